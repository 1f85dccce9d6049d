{{- /*
SPDX-FileCopyrightText: 2026 The Butler Authors
SPDX-License-Identifier: Apache-2.0

The controller of a provider, whole: the chart is named butler-provider-<type>,
and its one template includes this. Providers differ in what they do on their
platform, not in what they do in the cluster that holds the requests.
*/ -}}

{{- define "butler-lib.provider" -}}
{{ include "butler-lib.controller" . }}
{{- if .Values.rbac.create }}
---
{{ include "butler-lib.providerRole" . }}
{{- $verbs := list "get" "list" "watch" }}
{{- range .Values.credentialsSecrets | uniq | sortAlpha }}
{{- $parts := splitList "/" . }}
---
{{ include "butler-lib.secretsRole" (dict "root" $ "suffix" (printf "credentials-%s" (last $parts)) "namespace" (first $parts) "names" (list (last $parts)) "verbs" $verbs) }}
{{- end }}
{{- range .Values.credentialsNamespaces | uniq | sortAlpha }}
---
{{ include "butler-lib.secretsRole" (dict "root" $ "suffix" "credentials" "namespace" . "verbs" $verbs) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "butler-lib.providerRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Chart.Name }}
  labels:
    {{- include "butler-lib.labels" . | nindent 4 }}
rules:
  # To patch is to add and to remove the finalizer, and to note an id.
  - apiGroups: [butler.butlerlabs.dev]
    resources: [machinerequests, loadbalancerrequests, providerconfigs]
    verbs: [get, list, watch, patch]
  # Workers of tenant clusters count against limits.maxNodesPerTeam.
  - apiGroups: [butler.butlerlabs.dev]
    resources: [tenantclusters]
    verbs: [list]
  - apiGroups: [butler.butlerlabs.dev]
    resources: [machinerequests/status, loadbalancerrequests/status, providerconfigs/status]
    verbs: [patch]
  # It says which plane is in charge of a cluster, and keeps its ProviderConfig. Its
  # status holds credentials only with spec.statusCredentials: Inline.
  - apiGroups: [butler.butlerlabs.dev]
    resources: [clusterbootstraps]
    verbs: [get, list, watch]
  {{- include "butler-lib.eventRules" . | nindent 2 }}
{{- end }}
