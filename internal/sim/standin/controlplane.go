// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// hosted is an operator of control planes with an etcd of its own, as Steward
// and Kamaji are.
type hosted struct {
	name, group, image string
	etcd               string // name of its StatefulSet
	members            any
}

func (h hosted) controller() workload {
	return workload{
		kind: "Deployment", name: h.name, labels: recommended(h.name, h.name, "controller-manager"), account: h.name + "-controller-manager", replicas: 1,
		containers: []container{{
			name: "manager", image: h.image, port: 9443, args: []any{"manager", expression(`printf "--disable-telemetry=%t" .Values.telemetry.disabled`)},
		}},
	}
}

func (h hosted) etcdMembers() workload {
	return workload{
		kind: "StatefulSet", name: h.etcd, labels: labels("app.kubernetes.io/name", h.etcd, "app.kubernetes.io/instance", h.name), replicas: h.members,
		containers: []container{{name: "etcd", image: "quay.io/coreos/etcd:v3.5.17", port: 2379}},
	}
}

// objects are those that come in any case.
func (h hosted) objects(r release) []object {
	controller, hookService := h.controller(), h.name+"-webhook-service"
	out := append(accounts(inRelease, controller.account), controller.object(r, inRelease),
		service{name: hookService, port: 443, target: 9443, labels: controller.labels}.object(inRelease))
	for _, w := range []webhooks{
		{kind: validating, name: h.name + "-validating-webhook-configuration", rules: []rule{
			h.rule("vdatastore.kb.io", "/validate-datastore", "datastores"),
			h.rule("vtenantcontrolplane.kb.io", "/validate-tenantcontrolplane", "tenantcontrolplanes"),
		}},
		{kind: mutating, name: h.name + "-mutating-webhook-configuration", rules: []rule{
			h.rule("mtenantcontrolplane.kb.io", "/mutate-tenantcontrolplane", "tenantcontrolplanes"),
		}},
	} {
		w.service = hookService
		out = append(out, w.object(inRelease))
	}
	return append(out, serving(inRelease, h.name+"-selfsigned-issuer", h.name+"-serving-cert", h.name+"-webhook-server-cert", hookService)...)
}

func (h hosted) rule(name, path, resource string) rule {
	return rule{name: name, path: path, group: h.group, versions: []string{"v1alpha1"}, resources: []string{resource}}
}

// memberObjects are the StatefulSet and the Service that its pods have their names by.
func (h hosted) memberObjects(r release) []object {
	etcd := h.etcdMembers()
	return []object{
		etcd.object(r, inRelease),
		service{name: etcd.name, port: 2379, target: 2379, labels: etcd.labels, more: object{"clusterIP": "None"}}.object(inRelease),
	}
}

// steward prepares its etcd by a hook before the installation, and completes it
// by another one.
func steward(r release) chart {
	const group, etcd = "steward.butlerlabs.dev", "steward-etcd"
	const deployed = `(index .Values "steward-etcd").deploy`
	h := hosted{
		name: "steward", group: group, image: "ghcr.io/butlerdotdev/steward:" + r.bare(),
		etcd: etcd, members: expression(`(index .Values "steward-etcd").replicas`),
	}
	prepare := workload{account: etcd, containers: []container{{name: "kubectl", image: "docker.io/bitnami/kubectl:1.32"}}}
	complete := workload{account: etcd, containers: []container{{name: "etcd-client", image: "quay.io/coreos/etcd:v3.5.6"}}}
	request := named("v1", "ConfigMap", inRelease, etcd+"-csr", object{"data": object{"ca-csr.json": "{}"}})
	parts := append(always(h.objects(r)...), when(deployed, h.memberObjects(r)...)...)
	parts = append(parts, when(deployed,
		hook{"pre-install", "0", "before-hook-creation,hook-failed"}.on(accounts(inRelease, etcd)[0]),
		hook{"pre-install", "5", ""}.on(request),
		prepare.job(r, etcd+"-setup-1", hook{"pre-install", "10", afterAll}),
		complete.job(r, etcd+"-setup-2", hook{"post-install", "10", afterAll}))...)
	return chart{
		app: r.bare(), parts: parts,
		values: values{etcd: values{"deploy": true, "replicas": 3}, "telemetry": values{"disabled": false}},
		crds: map[string][]definition{"steward.yaml": define(group, "v1alpha1",
			"datastores *DataStore", "kubeconfiggenerators *KubeconfigGenerator", "tenantcontrolplanes TenantControlPlane")},
	}
}

func kamaji(r release) chart {
	const group, deployed = "kamaji.clastix.io", ".Values.etcd.deploy"
	h := hosted{name: "kamaji", group: group, image: "docker.io/clastix/kamaji:" + r.tag(), etcd: "etcd", members: 3}
	prepare := workload{account: h.etcd, containers: []container{{name: "kubectl", image: "docker.io/clastix/kubectl:v1.32"}}}
	complete := workload{account: h.etcd, containers: []container{{name: "etcd-client", image: "quay.io/coreos/etcd:v3.5.6"}}}
	parts := append(always(h.objects(r)...), when(deployed, h.memberObjects(r)...)...)
	parts = append(parts, when(deployed,
		hook{"pre-install", "-5", ""}.on(accounts(inRelease, h.etcd)[0]),
		prepare.job(r, "kamaji-etcd-certs", hook{"pre-install", "-5", afterSuccess}),
		complete.job(r, "kamaji-etcd-setup", hook{"post-install", "-5", afterAll}))...)
	return chart{
		app: r.tag(), parts: parts,
		values: values{"etcd": values{"deploy": true}, "telemetry": values{"disabled": false}},
		crds: map[string][]definition{"kamaji.yaml": define(group, "v1alpha1",
			"datastores *DataStore", "tenantcontrolplanes TenantControlPlane")},
	}
}
