// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// everyNode tolerates what a node has before its network is there.
func everyNode(kind, name string, labels map[string]string, priority string, containers ...container) workload {
	return workload{kind: kind, name: name, labels: labels, containers: containers, node: true, everywhere: true, priority: priority}
}

func cilium(r release) chart {
	relay := workload{
		kind: "Deployment", name: "hubble-relay", labels: labels("k8s-app", "hubble-relay"), replicas: 1,
		containers: []container{{name: "hubble-relay", image: "quay.io/cilium/hubble-relay:" + r.tag(), port: 4245}},
	}
	ui := workload{
		kind: "Deployment", name: "hubble-ui", labels: labels("k8s-app", "hubble-ui"), replicas: 1,
		containers: []container{
			{name: "frontend", image: "quay.io/cilium/hubble-ui:v0.13.1", port: 8081},
			{name: "backend", image: "quay.io/cilium/hubble-ui-backend:v0.13.1", port: 8090},
		},
	}
	parts := append(always(ciliumNode(r)...), always(definitions(ciliumDefinitions())...)...)
	parts = append(parts, hubblePart("relay", r, relay, service{name: "hubble-relay", port: 80, target: 4245, labels: relay.labels})...)
	parts = append(parts, hubblePart("ui", r, ui, service{name: "hubble-ui", port: 80, target: 8081, labels: ui.labels})...)
	class := named("gateway.networking.k8s.io/v1", "GatewayClass", nil, "cilium",
		object{"spec": object{"controllerName": "io.cilium/gateway-controller"}})
	parts = append(parts, when(`and .Values.gatewayAPI.enabled (eq .Values.gatewayAPI.gatewayClass.create "true")`, class)...)
	return chart{app: r.bare(), values: ciliumValues(), parts: parts}
}

// CiliumDefinitions are the definitions of Cilium's kinds. Whatever their objects say is kept.
func CiliumDefinitions() (out []*unstructured.Unstructured, err error) {
	for _, o := range definitions(ciliumDefinitions()) {
		data, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(data); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

func ciliumDefinitions() []definition {
	return define("cilium.io", "v2",
		"ciliumclusterwidenetworkpolicies *CiliumClusterwideNetworkPolicy", "ciliumendpoints CiliumEndpoint",
		"ciliumidentities *CiliumIdentity", "ciliumnetworkpolicies CiliumNetworkPolicy", "ciliumnodes *CiliumNode")
}

func hubblePart(name string, r release, w workload, s service) []part {
	condition := "and .Values.hubble.enabled .Values.hubble." + name + ".enabled"
	return when(condition, append(accounts(inRelease, w.name), w.object(r, inRelease), s.object(inRelease))...)
}

func ciliumValues() values {
	on, off := values{"enabled": true}, values{"enabled": false}
	return values{
		"ipam":                 values{"mode": "cluster-pool"},
		"kubeProxyReplacement": false,
		"k8sServiceHost":       "",
		"k8sServicePort":       0,
		"cgroup":               values{"autoMount": on, "hostRoot": "/run/cilium/cgroupv2"},
		"securityContext":      values{"capabilities": values{"ciliumAgent": []any{}, "cleanCiliumState": []any{}}},
		"operator":             values{"replicas": 2},
		"hubble":               values{"enabled": true, "relay": off, "ui": off},
		"ipv4":                 on,
		"ipv6":                 off,
		"gatewayAPI":           values{"enabled": false, "gatewayClass": values{"create": "auto"}},
	}
}

// ciliumNode is what makes nodes usable: agent, proxy and operator.
func ciliumNode(r release) []object {
	api := []any{
		object{"name": "KUBERNETES_SERVICE_HOST", "value": value("k8sServiceHost")},
		object{"name": "KUBERNETES_SERVICE_PORT", "value": expression(`printf "%v" .Values.k8sServicePort`)},
	}
	agent := everyNode("DaemonSet", "cilium", labels("k8s-app", "cilium"), "system-node-critical", container{
		name: "cilium-agent", image: "quay.io/cilium/cilium:" + r.tag(), env: api,
		security: object{"capabilities": object{"add": value("securityContext.capabilities.ciliumAgent"), "drop": []any{"ALL"}}},
	})
	envoy := everyNode("DaemonSet", "cilium-envoy", labels("k8s-app", "cilium-envoy"), "system-node-critical",
		container{name: "cilium-envoy", image: "quay.io/cilium/cilium-envoy:v1.31.5-1737535524-fe8efeb16a7d233bffd05af9ea53599340d3f18e"})
	chosen := labels("io.cilium/app", "operator", "name", "cilium-operator")
	operator := everyNode("Deployment", "cilium-operator", chosen, "system-cluster-critical",
		container{name: "cilium-operator", image: "quay.io/cilium/operator-generic:" + r.tag(), env: api})
	operator.replicas = value("operator.replicas")
	operator.more = object{"affinity": apart(chosen)}
	config := named("v1", "ConfigMap", inRelease, "cilium-config", object{"data": object{
		"ipam":                   value("ipam.mode"),
		"kube-proxy-replacement": printed("kubeProxyReplacement"),
		"cgroup-root":            value("cgroup.hostRoot"),
		"enable-ipv4":            printed("ipv4.enabled"),
		"enable-ipv6":            printed("ipv6.enabled"),
		"enable-hubble":          printed("hubble.enabled"),
		"enable-gateway-api":     printed("gatewayAPI.enabled"),
	}})
	return append(accounts(inRelease, "cilium", "cilium-envoy", "cilium-operator"),
		config, agent.object(r, inRelease), envoy.object(r, inRelease), operator.object(r, inRelease))
}

// printed is a value as a text.
func printed(path string) expression { return expression(`printf "%v" .Values.` + path) }

// apart keeps pods on different nodes.
func apart(labels map[string]string) object {
	return object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{
		object{"labelSelector": object{"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"},
	}}}
}

func metalLB(r release) chart {
	controller := workload{
		kind: "Deployment", name: "metallb-controller", labels: recommended("metallb", "metallb", "controller"),
		containers: []container{{name: "controller", image: "quay.io/metallb/controller:" + r.tag(), port: 9443}},
	}
	speaker := workload{
		kind: "DaemonSet", name: "metallb-speaker", labels: recommended("metallb", "metallb", "speaker"), node: true,
		containers: []container{{
			name: "speaker", image: "quay.io/metallb/speaker:" + r.tag(),
			args:     expression(`list "--port=7472" (printf "--ignore-exclude-lb=%t" .Values.speaker.ignoreExcludeLB) (printf "--frr=%t" .Values.speaker.frr.enabled)`),
			security: object{"capabilities": object{"add": []any{"NET_RAW"}, "drop": []any{"ALL"}}},
		}},
		more: object{"tolerations": []any{object{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}}},
	}
	const hookService = "metallb-webhook-service"
	objects := append(accounts(inRelease, controller.name, speaker.name), definitions(metalLBDefinitions())...)
	objects = append(objects, controller.object(r, inRelease), speaker.object(r, inRelease),
		service{name: hookService, port: 443, target: 9443, labels: controller.labels}.object(inRelease),
		webhooks{kind: validating, name: "metallb-webhook-configuration", service: hookService, rules: []rule{
			metalLBRule("ipaddresspool", "ipaddresspools"), metalLBRule("l2advertisement", "l2advertisements"),
		}}.object(inRelease))
	return chart{
		app: r.tag(), parts: always(objects...),
		values: values{"speaker": values{"frr": values{"enabled": true}, "ignoreExcludeLB": false}},
	}
}

func metalLBRule(one, many string) rule {
	return rule{
		name: one + "validationwebhook.metallb.io", path: "/validate-metallb-io-v1beta1-" + one,
		group: "metallb.io", versions: []string{"v1beta1"}, resources: []string{many},
	}
}

// metalLBDefinitions are strict about what pools and advertisements say.
func metalLBDefinitions() []definition {
	texts := object{"type": "array", "items": object{"type": "string"}}
	all := define("metallb.io", "v1beta1", "ipaddresspools IPAddressPool", "l2advertisements L2Advertisement", "communities Community")
	all[0].spec, all[0].required = object{"addresses": texts, "autoAssign": object{"type": "boolean"}}, []string{"addresses"}
	all[1].spec = object{"ipAddressPools": texts, "interfaces": texts}
	return all
}
