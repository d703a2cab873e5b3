{{- /* Turns a release's name into one for a Service, which begins with a letter and has no dots (RFC 1035). */ -}}
{{- define "intercept.name" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- if not (regexMatch "^[a-z]" $name) }}
{{- $name = printf "intercept-%s" $name }}
{{- end }}
{{- $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* Renders a setting as text. Helm reads numbers as floating-point ones; toJson writes them without an exponent. */ -}}
{{- define "intercept.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end }}
{{- end }}

{{- define "intercept.selector" -}}
app.kubernetes.io/name: intercept
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "intercept.labels" -}}
{{ include "intercept.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
