// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

func awsCloud(r release) chart {
	const name = "aws-cloud-controller-manager"
	manager := workload{
		kind: "DaemonSet", name: name, labels: labels("k8s-app", name), account: "cloud-controller-manager", priority: "system-node-critical",
		containers: []container{{
			name: name, image: expression(`printf "registry.k8s.io/provider-aws/cloud-controller-manager:%s" .Values.image.tag`),
			args: value("args"), env: value("env"), mounts: value("extraVolumeMounts"),
		}},
		more: object{
			"hostNetwork": value("hostNetworking"), "nodeSelector": value("nodeSelector"), "tolerations": value("tolerations"),
			"volumes": value("extraVolumes"),
		},
	}
	return chart{
		app: "v1.30.3", parts: always(append(accounts(inRelease, manager.account), manager.object(r, inRelease))...),
		values: values{
			"args": []any{}, "env": []any{}, "hostNetworking": false, "nodeSelector": free{}, "tolerations": []any{},
			"extraVolumes": []any{}, "extraVolumeMounts": []any{}, "image": values{"tag": "v1.30.3"},
		},
	}
}

func azureCloud(r release) chart {
	const images = "mcr.microsoft.com/oss/v2/kubernetes/azure-cloud-"
	tag := expression(`printf "` + images + `controller-manager:v1.%s.0" .Capabilities.KubeVersion.Minor`)
	manager := workload{
		kind: "Deployment", name: "cloud-controller-manager", labels: labels("tier", "control-plane", "component", "cloud-controller-manager"),
		replicas: value("cloudControllerManager.replicas"), node: true, priority: "system-node-critical",
		containers: []container{{name: "cloud-controller-manager", image: tag, args: azureArguments()}},
		more:       object{"tolerations": value("cloudControllerManager.tolerations")},
	}
	node := everyNode("DaemonSet", "cloud-node-manager", labels("k8s-app", "cloud-node-manager"), "system-node-critical", container{
		name: "cloud-node-manager", image: expression(`printf "` + images + `node-manager:v1.%s.0" .Capabilities.KubeVersion.Minor`),
	})
	return chart{
		app: r.tag(), values: azureValues(),
		parts: always(append(accounts(inRelease, manager.name, node.name), manager.object(r, inRelease), node.object(r, inRelease))...),
	}
}

func azureArguments() []any {
	argument := func(flag, path string) expression {
		return expression(`printf "--` + flag + `=%s" .Values.` + path)
	}
	const manager = "cloudControllerManager."
	return []any{
		argument("cluster-name", "infra.clusterName"), argument("allocate-node-cidrs", manager+"allocateNodeCidrs"),
		argument("configure-cloud-routes", manager+"configureCloudRoutes"), argument("cluster-cidr", manager+"clusterCIDR"),
		argument("cloud-config", manager+"cloudConfig"), argument("cloud-config-secret-name", manager+"cloudConfigSecretName"),
		argument("enable-dynamic-reloading", manager+"enableDynamicReloading"),
	}
}

// azureValues has its switches as texts, as the real chart does.
func azureValues() values {
	return values{
		"infra": values{"clusterName": "kubernetes"},
		"cloudControllerManager": values{
			"allocateNodeCidrs": "true", "configureCloudRoutes": "true", "clusterCIDR": "10.244.0.0/16",
			"cloudConfig": "/etc/kubernetes/azure.json", "cloudConfigSecretName": "", "enableDynamicReloading": "false",
			"replicas": 1, "tolerations": []any{},
		},
	}
}
