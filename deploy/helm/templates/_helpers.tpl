{{- define "intercept.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "intercept.selector" -}}
app.kubernetes.io/name: intercept
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "intercept.labels" -}}
{{ include "intercept.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
