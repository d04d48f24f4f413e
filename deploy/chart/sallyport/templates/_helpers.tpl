{{/* Labels of every object; the argument is the component, empty for what belongs to none. */}}
{{- define "sallyport.labels" -}}
app.kubernetes.io/name: sallyport
{{- if . }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/part-of: sallyport
{{- end }}

{{/* What selects the pods of a component. */}}
{{- define "sallyport.selector" -}}
app.kubernetes.io/name: sallyport
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "sallyport.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Where pods of a component may run; the argument is its values. */}}
{{- define "sallyport.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "sallyport.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "sallyport.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* A ClusterRole and its binding from a file, bound in the namespaces of Gateways where those are named. */}}
{{- define "sallyport.gatewayRole" -}}
{{- $namespaces := .root.Values.controller.gatewayNamespaces }}
{{- $text := .root.Files.Get .file | replace "namespace: sallyport-system" (printf "namespace: %s" .root.Values.namespace.name) }}
{{- if $namespaces }}
{{- $parts := regexSplit "(?m)^---$" $text -1 }}
{{ first $parts }}
{{- range $namespaces }}
---
{{ last $parts | replace "kind: ClusterRoleBinding" "kind: RoleBinding" | replace "metadata:" (printf "metadata:\n  namespace: %s" .) }}
{{- end }}
{{- else }}
{{ $text }}
{{- end }}
{{- end }}
