{{- define "tollgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for the names of pods and of the headless service. */}}
{{- define "tollgate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "tollgate.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "tollgate.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Those that a selector may name: they never change. */}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ include "tollgate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "tollgate.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}

{{- define "tollgate.serviceAccount" -}}
{{ default (include "tollgate.fullname" .) .Values.serviceAccount.name }}
{{- end -}}

{{/* tollgate.yaml as an object: that of the values, and what the chart decides. */}}
{{- define "tollgate.config" -}}
{{- $server := dict "port" 8787 "drain" (printf "%ds" (int .Values.drain.seconds)) -}}
{{- if gt (int .Values.drain.delaySeconds) 0 -}}
{{- $_ := set $server "drain_delay" (printf "%ds" (int .Values.drain.delaySeconds)) -}}
{{- end -}}
{{- if .Values.tls.existingSecret -}}
{{- $_ := set $server "tls" (dict "cert" "/run/tollgate/tls/tls.crt" "key" "/run/tollgate/tls/tls.key") -}}
{{- end -}}
{{- $managed := dict "storage" "${TOLLGATE_DATABASE_URL}" "storage_migrate" "manual" "storage_journal" "/data/journal" "server" $server -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $managed "metrics" (dict "host" "0.0.0.0" "port" 9464) -}}
{{- end -}}
{{- $defaults := dict "server" (dict "host" "0.0.0.0") -}}
{{- toYaml (mergeOverwrite $defaults (deepCopy .Values.config) $managed) -}}
{{- end -}}

{{/* Changes with what a running node does not take over. */}}
{{- define "tollgate.restartHash" -}}
{{- $config := fromYaml (include "tollgate.config" .) -}}
{{- $log := default dict $config.log -}}
{{- $upstream := default dict $config.upstream -}}
{{- $webhooks := default dict $config.webhooks -}}
{{- list (pick $config "server" "storage" "storage_migrate" "storage_journal" "metrics" "otlp") $log.format $upstream.client $webhooks.encryption_key | toJson | sha256sum -}}
{{- end -}}

{{- define "tollgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "tollgate.databaseVariable" -}}
- name: TOLLGATE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
{{- end -}}

{{- define "tollgate.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}
