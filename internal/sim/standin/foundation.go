// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

func certManager(r release) chart {
	deployment := func(name, component, image string, port int) workload {
		return workload{
			kind: "Deployment", name: name, labels: recommended(component, "cert-manager", component), replicas: 1,
			containers: []container{{name: name, image: "quay.io/jetstack/cert-manager-" + image + ":" + r.tag(), port: port}},
		}
	}
	controller := deployment("cert-manager", "controller", "controller", 9402)
	injector := deployment("cert-manager-cainjector", "cainjector", "cainjector", 9402)
	webhook := deployment("cert-manager-webhook", "webhook", "webhook", 10250)
	check := deployment("cert-manager-startupapicheck", "startupapicheck", "startupapicheck", 0)
	check.account = webhook.name
	objects := append(accounts(inRelease, controller.name, injector.name, webhook.name),
		controller.object(r, inRelease), injector.object(r, inRelease), webhook.object(r, inRelease),
		service{name: webhook.name, port: 443, target: 10250, labels: webhook.labels}.object(inRelease))
	for _, w := range certManagerWebhooks(webhook.name) {
		objects = append(objects, w.object(inRelease))
	}
	parts := append(always(objects...), when(".Values.crds.enabled", definitions(certManagerDefinitions())...)...)
	api := when(".Values.startupapicheck.enabled", check.job(r, check.name, hook{"post-install", "1", afterSuccess}))
	api[0].seldom = true
	return chart{
		app: r.tag(), parts: append(parts, api...),
		values: values{"crds": values{"enabled": false}, "startupapicheck": values{"enabled": true}},
	}
}

func certManagerDefinitions() []definition {
	return append(
		define("cert-manager.io", "v1",
			"certificaterequests CertificateRequest", "certificates Certificate", "clusterissuers *ClusterIssuer", "issuers Issuer"),
		define("acme.cert-manager.io", "v1", "challenges Challenge", "orders Order")...)
}

func certManagerWebhooks(name string) []webhooks {
	const hook = "webhook.cert-manager.io"
	return []webhooks{
		{kind: mutating, name: name, service: name, rules: []rule{{
			name: hook, path: "/mutate", group: "cert-manager.io", resources: []string{"certificaterequests"}, operations: []string{"CREATE"},
		}}},
		{kind: validating, name: name, service: name, rules: []rule{{
			name: hook, path: "/validate", group: "cert-manager.io", resources: []string{"certificates", "certificaterequests", "issuers", "clusterissuers"},
		}}},
	}
}

const longhornAccount = "longhorn-service-account"

// longhorn has also what the real chart leaves to Longhorn's manager: the CSI
// driver, the webhooks and the StorageClass.
func longhorn(r release) chart {
	manager := workload{
		kind: "DaemonSet", name: "longhorn-manager", labels: labels("app", "longhorn-manager"), account: longhornAccount, priority: "longhorn-critical",
		containers: []container{{name: "longhorn-manager", image: "longhornio/longhorn-manager:" + r.tag(), port: 9500, security: object{"privileged": true}}},
	}
	const hookService, hookPort = "longhorn-admission-webhook", 9502
	objects := append(accounts(inRelease, longhornAccount), manager.object(r, inRelease),
		named("scheduling.k8s.io/v1", "PriorityClass", nil, "longhorn-critical", object{"value": 1000000000, "description": "for the pods of Longhorn"}),
		service{name: "longhorn-backend", port: 9500, target: 9500, labels: manager.labels}.object(inRelease),
		service{name: hookService, port: hookPort, target: hookPort, labels: manager.labels}.object(inRelease),
	)
	resources := []string{"nodes", "settings", "volumes"}
	for _, w := range []webhooks{
		{kind: validating, name: "longhorn-webhook-validator", rules: []rule{{name: "validator.longhorn.io", path: "/v1/webhook/validation"}}},
		{kind: mutating, name: "longhorn-webhook-mutator", rules: []rule{{name: "mutator.longhorn.io", path: "/v1/webhook/mutation"}}},
	} {
		w.service, w.port = hookService, hookPort
		w.rules[0].group, w.rules[0].versions, w.rules[0].resources = "longhorn.io", []string{"v1beta2"}, resources
		objects = append(objects, w.object(inRelease))
	}
	objects = append(append(objects, longhornStorage()...), longhornDriver(r)...)
	objects = append(objects, definitions(define("longhorn.io", "v1beta2",
		"engines Engine", "nodes Node", "replicas Replica", "settings Setting", "volumes Volume"))...)
	return chart{app: r.tag(), values: longhornValues(), parts: always(objects...)}
}

func longhornValues() values {
	return values{
		"defaultSettings": values{
			"defaultReplicaCount": 3, "defaultDataPath": "/var/lib/longhorn/", "allowCollectingLonghornUsageMetrics": true,
		},
		"persistence": values{"defaultClass": true, "defaultClassReplicaCount": 3},
		"csi": values{
			"attacherReplicaCount": 3, "provisionerReplicaCount": 3, "resizerReplicaCount": 3, "snapshotterReplicaCount": 3,
		},
		"longhornUI": values{"replicas": 2},
	}
}

func longhornStorage() []object {
	const driver = "driver.longhorn.io"
	class := named("storage.k8s.io/v1", "StorageClass", nil, "longhorn", object{
		"provisioner": driver, "allowVolumeExpansion": true, "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
		"parameters": object{"numberOfReplicas": printed("persistence.defaultClassReplicaCount"), "fsType": "ext4"},
	})
	class.meta()["annotations"] = object{"storageclass.kubernetes.io/is-default-class": printed("persistence.defaultClass")}
	settings := named("v1", "ConfigMap", inRelease, "longhorn-default-setting", object{"data": object{
		"default-setting.yaml": expression(`printf "default-replica-count: %v\ndefault-data-path: %s\nallow-collecting-longhorn-usage-metrics: %t\n"` +
			" .Values.defaultSettings.defaultReplicaCount .Values.defaultSettings.defaultDataPath .Values.defaultSettings.allowCollectingLonghornUsageMetrics"),
	}})
	return []object{
		class, settings,
		named("storage.k8s.io/v1", "CSIDriver", nil, driver, object{"spec": object{"attachRequired": true, "podInfoOnMount": true}}),
	}
}

func longhornDriver(r release) (out []object) {
	for _, d := range []struct {
		name, image string
		replicas    any
	}{
		{"csi-attacher", "csi-attacher:v4.7.0", value("csi.attacherReplicaCount")},
		{"csi-provisioner", "csi-provisioner:v4.0.1-20241007", value("csi.provisionerReplicaCount")},
		{"csi-resizer", "csi-resizer:v1.12.0", value("csi.resizerReplicaCount")},
		{"csi-snapshotter", "csi-snapshotter:v7.0.2-20241007", value("csi.snapshotterReplicaCount")},
		{"longhorn-driver-deployer", "longhorn-manager:" + r.tag(), 1},
		{"longhorn-ui", "longhorn-ui:" + r.tag(), value("longhornUI.replicas")},
	} {
		out = append(out, workload{
			kind: "Deployment", name: d.name, labels: labels("app", d.name), account: longhornAccount, replicas: d.replicas,
			priority: "longhorn-critical", containers: []container{{name: d.name, image: "longhornio/" + d.image}},
		}.object(r, inRelease))
	}
	plugin := workload{
		kind: "DaemonSet", name: "longhorn-csi-plugin", labels: labels("app", "longhorn-csi-plugin"), account: longhornAccount, priority: "longhorn-critical",
		containers: []container{
			{name: "node-driver-registrar", image: "longhornio/csi-node-driver-registrar:v2.12.0", security: object{"privileged": true}},
			{name: "longhorn-csi-plugin", image: "longhornio/longhorn-manager:" + r.tag(), security: object{"privileged": true}},
		},
	}
	return append(out, plugin.object(r, inRelease))
}
