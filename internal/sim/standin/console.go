// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

const consoleName = "butler-console"

func console(r release) chart {
	frontend := consoleDeployment("frontend", expression(`printf "ghcr.io/butlerdotdev/butler-console:%s" .Values.frontend.image.tag`), nil)
	server := consoleDeployment("server", expression(`printf "ghcr.io/butlerdotdev/butler-server:%s" .Values.server.image.tag`), consoleEnvironment())
	objects := append(accounts(inRelease, consoleName), frontend.object(r, inRelease), server.object(r, inRelease),
		service{name: frontend.name, port: 80, target: 8080, labels: frontend.labels}.object(inRelease),
		service{name: server.name, port: 8080, target: 8080, labels: server.labels}.object(inRelease))
	return chart{
		app: "0.16.1", values: consoleValues(), parts: always(objects...),
		templates: map[string]string{"ingress.yaml": consoleIngress},
	}
}

func consoleDeployment(part string, image, env any) workload {
	name := consoleName + "-" + part
	return workload{
		kind: "Deployment", name: name, labels: recommended(name, consoleName, part), account: consoleName, replicas: 1,
		containers: []container{{name: part, image: image, env: env, port: 8080}},
	}
}

func consoleEnvironment() []any {
	variable := func(name string, v expression) object { return object{"name": name, "value": v} }
	return []any{
		variable("BUTLER_BASE_URL", value("server.config.baseURL")),
		variable("BUTLER_EXTERNAL_API_URL", value("server.cliAuth.externalAPIURL")),
		variable("BUTLER_SECURE_COOKIES", printed("server.auth.secureCookies")),
		variable("BUTLER_TRUST_PROXY_HEADERS", printed("server.auth.trustProxyHeaders")),
	}
}

func consoleValues() values {
	return values{
		"frontend": values{"image": values{"tag": "0.16.1"}},
		"server": values{
			"image":   values{"tag": "0.22.0"},
			"config":  values{"baseURL": ""},
			"cliAuth": values{"externalAPIURL": ""},
			"auth":    values{"secureCookies": false, "trustProxyHeaders": false},
		},
		"ingress": values{"enabled": false, "className": "", "hosts": []any{}, "tls": []any{}},
	}
}

const consoleIngress = `{{- if .Values.ingress.enabled }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: butler-console
  namespace: {{ .Release.Namespace }}
spec:
  {{- with .Values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- with .Values.ingress.tls }}
  tls: {{ toJson . }}
  {{- end }}
  rules:
    {{- range .Values.ingress.hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
          {{- range .paths }}
          - path: {{ .path }}
            pathType: {{ .pathType }}
            backend:
              service:
                name: butler-console-{{ .service }}
                port:
                  number: {{ eq .service "server" | ternary 8080 80 }}
          {{- end }}
    {{- end }}
{{- end }}
`
