{{- define "butler-monitoring.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "butler-monitoring.operator" -}}
{{- if or (eq .Values.prometheusOperator "always") (and (eq .Values.prometheusOperator "auto") (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
yes
{{- end }}
{{- end }}
