{{- /*
SPDX-FileCopyrightText: 2026 The Butler Authors
SPDX-License-Identifier: Apache-2.0

What controllers may do. Each has a ClusterRole named like its chart, for the
kinds of this project; Secrets it reads by name, or in the namespaces of its values.
*/ -}}

{{- define "butler-lib.clusterRoleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .Chart.Name }}
  labels:
    {{- include "butler-lib.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .Chart.Name }}
subjects:
  {{- include "butler-lib.subjects" . | nindent 2 }}
{{- end }}

{{- /* The lease of the leader. A name cannot be asked for where it is created. */ -}}
{{- define "butler-lib.leaderElection" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .Chart.Name }}-leader-election
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "butler-lib.labels" . | nindent 4 }}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ .Chart.Name }}.butler.butlerlabs.dev]
    verbs: [get, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .Chart.Name }}-leader-election
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "butler-lib.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .Chart.Name }}-leader-election
subjects:
  {{- include "butler-lib.subjects" . | nindent 2 }}
{{- end }}

{{- define "butler-lib.subjects" -}}
- kind: ServiceAccount
  name: {{ .Chart.Name }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* Rules that every controller has. Leader election still writes an event of
the core group when it is won. */ -}}
{{- define "butler-lib.eventRules" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [create]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "butler-lib.credentialsNamespaces" -}}
{{ .Values.credentialsNamespaces | default (list .Release.Namespace) | uniq | sortAlpha | join "," }}
{{- end }}

{{- /* Verbs on Secrets in one namespace: root, suffix of the name, namespace, verbs,
and names unless all are meant. A watch of a named one needs a field selector. */ -}}
{{- define "butler-lib.secretsRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .root.Chart.Name }}-{{ .suffix }}
  namespace: {{ .namespace }}
  labels:
    {{- include "butler-lib.labels" .root | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [secrets]
    {{- with .names }}
    resourceNames: {{ toJson . }}
    {{- end }}
    verbs: [{{ join ", " .verbs }}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .root.Chart.Name }}-{{ .suffix }}
  namespace: {{ .namespace }}
  labels:
    {{- include "butler-lib.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .root.Chart.Name }}-{{ .suffix }}
subjects:
  {{- include "butler-lib.subjects" .root | nindent 2 }}
{{- end }}
