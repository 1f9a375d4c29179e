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

{{- /* What all pods have: "pod" . */ -}}
{{- define "partner-api.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .Values.volumes }}
volumes: {{ toJson . }}
{{- end }}
{{- end }}

{{- /* Over zones and nodes, where there are several: "spread" LABELS */ -}}
{{- define "partner-api.spread" -}}
{{- $labels := . }}
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ toJson $labels }} }
{{- end }}
{{- end }}

{{- /* A start takes up to a second. An earlier probe would be an event "Unhealthy" of every start. */ -}}
{{- define "partner-api.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: operators }
  initialDelaySeconds: 1
  periodSeconds: 1
  failureThreshold: 60
# /healthz, not /readyz: no restart brings a database back.
livenessProbe:
  httpGet: { path: /healthz, port: operators }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
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

{{- /* What a gateway in the cluster calls. Probes and Prometheus call addresses. */ -}}
{{- define "partner-api.operatorsHosts" -}}
{{- $name := printf "%s-operators" .Release.Name }}
{{- printf "%s,%s.%s,%s.%s.svc,%s.%s.svc.cluster.local" $name $name .Release.Namespace $name .Release.Namespace $name .Release.Namespace }}
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

{{- define "partner-api.gracePeriod" -}}
{{- /* DRAIN and SHUTDOWN_GRACE, and a margin. */ -}}
{{- add (include "partner-api.drainSeconds" . | int) .Values.shutdownGraceSeconds 10 }}
{{- end }}

{{- define "partner-api.hasService" -}}
{{- if or .Values.roles.all.enabled .Values.roles.api.enabled }}yes{{ end }}
{{- end }}
