// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// frontDoor is a Service for web traffic.
func frontDoor(name string, labels map[string]string, kind, families any, web, secure int) object {
	more := object{"ports": []any{
		object{"name": "web", "port": 80, "targetPort": web, "protocol": "TCP"},
		object{"name": "websecure", "port": 443, "targetPort": secure, "protocol": "TCP"},
	}}
	if families != nil {
		more["ipFamilies"] = families
	}
	return service{name: name, labels: labels, kind: kind, more: more}.object(inRelease)
}

// ingressClass is the default one if a value says so.
func ingressClass(name any, controller string, byDefault string) object {
	class := named("networking.k8s.io/v1", "IngressClass", nil, name, object{"spec": object{"controller": controller}})
	class.meta()["annotations"] = object{"ingressclass.kubernetes.io/is-default-class": printed(byDefault)}
	return class
}

// traefik carries definitions of the Gateway API, as the real chart does: the
// standard channel, which a cluster with the experimental one must not take.
func traefik(r release) chart {
	proxy := workload{
		kind: "Deployment", name: "traefik", labels: labels("app.kubernetes.io/name", "traefik", "app.kubernetes.io/instance", "traefik-traefik"),
		replicas: value("deployment.replicas"),
		containers: []container{{
			name: "traefik", image: "docker.io/traefik:v3.3.3", port: 8000,
			args: expression(`concat .Values.globalArguments (list "--providers.kubernetescrd" "--providers.kubernetesingress")`),
		}},
	}
	parts := always(append(accounts(inRelease, proxy.name), proxy.object(r, inRelease),
		frontDoor(proxy.name, proxy.labels, value("service.type"), nil, 8000, 8443))...)
	return chart{
		app: "v3.3.3",
		values: values{
			"deployment":      values{"replicas": 1},
			"ingressClass":    values{"enabled": true, "isDefaultClass": true},
			"service":         values{"type": "LoadBalancer"},
			"globalArguments": []any{"--global.checknewversion", "--global.sendanonymoususage"},
		},
		parts: append(parts, when(".Values.ingressClass.enabled",
			ingressClass("traefik", "traefik.io/ingress-controller", "ingressClass.isDefaultClass"))...),
		crds: map[string][]definition{
			"traefik.yaml": define("traefik.io", "v1alpha1",
				"ingressroutes IngressRoute", "ingressroutetcps IngressRouteTCP", "ingressrouteudps IngressRouteUDP",
				"middlewares Middleware", "middlewaretcps MiddlewareTCP", "tlsoptions TLSOption", "tlsstores TLSStore"),
			"gateway-standard-install.yaml": gatewayDefinitions("v1.2.1", standardChannel),
		},
	}
}

// nginxArguments is a template of the container's arguments, as a list.
const nginxArguments = `{{- define "arguments" -}}
{{- $all := list "/nginx-ingress-controller" -}}
{{- range $name, $value := .Values.controller.extraArgs -}}
{{- $all = append $all (printf "--%s=%v" $name $value) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}
`

func ingressNginx(r release) chart {
	const name, admission = "ingress-nginx", "ingress-nginx-admission"
	controller := workload{
		kind: "Deployment", name: name + "-controller", labels: recommended(name, name, "controller"), account: name,
		replicas: value("controller.replicaCount"),
		containers: []container{{
			name: "controller", image: "registry.k8s.io/ingress-nginx/controller:v1.15.1", port: 8443, args: expression(`include "arguments" . | fromJsonArray`),
		}},
	}
	hookService := controller.name + "-admission"
	parts := always(append(accounts(inRelease, name), controller.object(r, inRelease),
		frontDoor(controller.name, controller.labels, value("controller.service.type"), value("controller.service.ipFamilies"), 80, 443),
		service{name: hookService, port: 443, target: 8443, labels: controller.labels}.object(inRelease),
		webhooks{kind: validating, name: admission, service: hookService, port: 443, rules: []rule{{
			name: "validate.nginx.ingress.kubernetes.io", path: "/networking/v1/ingresses", group: "networking.k8s.io", resources: []string{"ingresses"},
		}}}.object(inRelease))...)
	class := ingressClass(value("controller.ingressClassResource.name"), "k8s.io/ingress-nginx", "controller.ingressClassResource.default")
	parts = append(parts, when(".Values.controller.ingressClassResource.enabled", class)...)
	return chart{
		app: "1.15.1", values: nginxValues(), parts: append(parts, nginxHooks(r, admission)...),
		templates: map[string]string{"_arguments.tpl": nginxArguments},
	}
}

// nginxHooks make the certificate of the webhook, and put it in.
func nginxHooks(r release, name string) []part {
	job := workload{account: name, containers: []container{{name: "certgen", image: "registry.k8s.io/ingress-nginx/kube-webhook-certgen:v1.6.9"}}}
	before, after := "pre-install,pre-upgrade", "post-install,post-upgrade"
	account := accounts(inRelease, name)[0]
	return always(
		hook{before + "," + after, "", afterSuccess}.on(account),
		job.job(r, name+"-create", hook{before, "", afterSuccess}),
		job.job(r, name+"-patch", hook{after, "", afterSuccess}))
}

func nginxValues() values {
	return values{"controller": values{
		"replicaCount":         1,
		"extraArgs":            free{},
		"ingressClassResource": values{"name": "nginx", "enabled": true, "default": false},
		"service":              values{"type": "LoadBalancer", "ipFamilies": []any{"IPv4"}},
	}}
}
