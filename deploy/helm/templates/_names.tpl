{{- define "partner-api.labels" -}}
app.kubernetes.io/name: partner-api
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "partner-api.selector" -}}
app.kubernetes.io/name: partner-api
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "partner-api.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "partner-api.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "partner-api.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* One variable for each name: "fromSecret" (list . NAME…) */ -}}
{{- define "partner-api.fromSecret" -}}
{{- $secret := first . }}
{{- range rest . }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }} } }
{{- end }}
{{- end }}

{{- define "partner-api.settings" }}
- { name: CELL, value: {{ .Values.cell | quote }} }
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- /* "5s", "1m" and "500ms" in whole seconds, rounded up */ -}}
{{- define "partner-api.drainSeconds" -}}
{{- $drain := .Values.drain }}
{{- $count := regexFind "^[0-9]+" $drain | int }}
{{- if hasSuffix "ms" $drain }}{{ divf $count 1000 | ceil | int }}
{{- else if hasSuffix "m" $drain }}{{ mul $count 60 }}
{{- else }}{{ $count }}{{ end }}
{{- end }}
