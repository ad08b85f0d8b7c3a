{{- define "pawl.operatorImage" -}}
{{- $o := .Values.operator -}}
{{- if and $o.image (not $o.repository) (not $o.version) -}}
{{ $o.image }}
{{- else -}}
{{- $version := $o.version | default .Chart.AppVersion -}}
{{ required "operator.repository is empty" $o.repository }}/{{ required "operator.image is empty" $o.image }}{{ if hasPrefix "sha256:" $version }}@{{ else }}:{{ end }}{{ $version }}
{{- end -}}
{{- end -}}

{{- define "pawl.labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "pawl.unprivileged" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}
