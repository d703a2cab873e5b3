{{- /* A Service's name begins with a letter and has no dots (RFC 1035); a release's may. */ -}}
{{- define "intercept.name" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- if not (regexMatch "^[a-z]" $name) }}
{{- $name = printf "intercept-%s" $name }}
{{- end }}
{{- $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* The text of a setting. Helm reads numbers as floating-point numbers; JSON writes them without an exponent. */ -}}
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
