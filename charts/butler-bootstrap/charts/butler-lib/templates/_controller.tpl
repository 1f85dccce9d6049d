{{- /*
SPDX-FileCopyrightText: 2026 The Butler Authors
SPDX-License-Identifier: Apache-2.0

A controller of this project, but for its own rights: see _rights.tpl. All
objects are named like the chart, since a cluster has one of each controller.
*/ -}}

{{- define "butler-lib.controller" -}}
{{ include "butler-lib.serviceAccount" . }}
---
{{ include "butler-lib.deployment" . }}
{{- if gt (int .Values.replicaCount) 1 }}
---
{{ include "butler-lib.podDisruptionBudget" . }}
{{- end }}
{{- if .Values.rbac.create }}
---
{{ include "butler-lib.clusterRoleBinding" . }}
---
{{ include "butler-lib.leaderElection" . }}
{{- end }}
{{- end }}

{{- define "butler-lib.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "butler-lib.metadata" . | nindent 2 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "butler-lib.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "butler-lib.metadata" . | nindent 2 }}
spec:
  replicas: {{ .Values.replicaCount }}
  selector:
    matchLabels:
      {{- include "butler-lib.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "butler-lib.labels" . | nindent 8 }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "butler-lib.podSpec" . | nindent 6 }}
{{- end }}

{{- define "butler-lib.podDisruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "butler-lib.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "butler-lib.selector" . | nindent 6 }}
{{- end }}

{{- /* The pod meets the level restricted of the Pod Security Standards. */ -}}
{{- define "butler-lib.podSpec" -}}
serviceAccountName: {{ .Chart.Name }}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  {{- with .Values.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- /* Without a worker there still are controllers, which replace it. */}}
  - key: node-role.kubernetes.io/control-plane
    operator: Exists
    effect: NoSchedule
  {{- /* Who looks after lost machines is not to wait for minutes on one. */}}
  - key: node.kubernetes.io/not-ready
    operator: Exists
    effect: NoExecute
    tolerationSeconds: 30
  - key: node.kubernetes.io/unreachable
    operator: Exists
    effect: NoExecute
    tolerationSeconds: 30
{{- /* The first node that is Ready does not get all of them: a second one waits for another. */}}
{{- if gt (int .Values.replicaCount) 1 }}
topologySpreadConstraints:
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    minDomains: 2
    whenUnsatisfiable: DoNotSchedule
    labelSelector:
      matchLabels:
        {{- include "butler-lib.selector" . | nindent 8 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
containers:
  - name: controller
    {{- include "butler-lib.container" . | nindent 4 }}
{{- end }}

{{- define "butler-lib.container" -}}
{{- /* With a digest, the tag is only for people: nodes pull by the digest. */}}
image: {{ printf "%s:%s%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) (empty .Values.image.digest | ternary "" (printf "@%s" .Values.image.digest)) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  - --leader-elect
  - --health-probe-bind-address=:8081
  - --metrics-bind-address=:8080
  - --log-level={{ .Values.logLevel }}
  {{- if hasPrefix "butler-provider-" .Chart.Name }}
  - --credentials-secrets={{ .Values.credentialsSecrets | uniq | sortAlpha | join "," }}
  {{- with .Values.credentialsNamespaces }}
  - --credentials-namespaces={{ . | uniq | sortAlpha | join "," }}
  {{- end }}
  {{- end }}
  {{- with .Values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - name: metrics
    containerPort: 8080
  - name: health
    containerPort: 8081
livenessProbe:
  httpGet:
    path: /healthz
    port: health
readinessProbe:
  httpGet:
    path: /readyz
    port: health
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "butler-lib.metadata" -}}
name: {{ .Chart.Name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "butler-lib.labels" . | nindent 2 }}
{{- end }}

{{- define "butler-lib.labels" -}}
{{ include "butler-lib.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/part-of: butler
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "butler-lib.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- end }}
