// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strconv"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	uninitialized     = "node.cloudprovider.kubernetes.io/uninitialized"
	notReady          = "node.kubernetes.io/not-ready"
	awsSecret         = "aws-cloud-credentials"
	azureSecret       = "azure-cloud-provider"
)

// cloudTolerations let a cloud controller manager onto control planes that wait
// for it and for the network.
func cloudTolerations() []any {
	toleration := func(key string) map[string]any {
		return map[string]any{"key": key, "operator": "Exists", "effect": "NoSchedule"}
	}
	return []any{toleration(uninitialized), toleration(notReady), toleration(controlPlaneLabel)}
}

// cloudNodes select where a cloud controller manager runs: on control planes. A cluster that
// has none runs it on any node, with a selector that each of them meets.
func (c cluster) cloudNodes() map[string]any {
	if c.facts.Hosted {
		return map[string]any{"kubernetes.io/os": "linux"}
	}
	return map[string]any{controlPlaneLabel: ""}
}

// toAPIServer leads a pod on the node's network to the API server while there is no service
// network.
func (c cluster) toAPIServer() []any {
	host, port := c.apiServer("127.0.0.1")
	return []any{
		map[string]any{"name": "KUBERNETES_SERVICE_HOST", "value": host},
		map[string]any{"name": "KUBERNETES_SERVICE_PORT", "value": strconv.Itoa(port)},
	}
}

// credentials reports whether the cluster's ProviderConfig names a Secret;
// without one, machines act under the identity that the cloud gave them.
func (c cluster) credentials() bool { return c.facts.Platform.CredentialsRef != nil }

// awsCloud leaves routes to Cilium. Its image is that of the cluster's
// Kubernetes, of which every minor version has one.
func awsCloud(c cluster, a *Addon) {
	a.Values = map[string]any{
		"args": []any{
			"--v=2", "--cloud-provider=aws", "--cluster-name=" + c.Cluster.Name,
			"--allocate-node-cidrs=false", "--configure-cloud-routes=false",
		},
		"hostNetworking": true,
		"nodeSelector":   c.cloudNodes(),
		"tolerations":    cloudTolerations(),
		"env":            awsEnv(c),
	}
	if minor := c.minor(); minor != "" {
		a.Values["image"] = map[string]any{"tag": "v1." + minor + ".0"}
	}
	if c.credentials() {
		a.Secret = &Secret{Namespace: kubeSystem, Name: awsSecret, Profile: c.awsRegion()}
		a.Values["extraVolumes"] = []any{map[string]any{"name": "credentials", "secret": map[string]any{"secretName": awsSecret}}}
		a.Values["extraVolumeMounts"] = []any{map[string]any{"name": "credentials", "mountPath": awsProfileDir, "readOnly": true}}
	}
	a.Ready.Workloads = daemonSets(kubeSystem, "aws-cloud-controller-manager")
}

func (c cluster) awsRegion() string {
	if p := c.facts.Platform.AWS; p != nil {
		return p.Region
	}
	return ""
}

// awsEnv names the profile with the credentials. Without any, the manager acts under the
// identity of its machine.
func awsEnv(c cluster) []any {
	env := c.toAPIServer()
	add := func(name, value string) { env = append(env, map[string]any{"name": name, "value": value}) }
	if region := c.awsRegion(); region != "" {
		add("AWS_REGION", region)
	}
	if c.credentials() {
		add("AWS_CONFIG_FILE", awsProfileDir+"/"+awsProfileKey)
	}
	return env
}

// azureCloud reads its configuration from a Secret, because Talos has no file
// for it; that is what the chart calls dynamic reloading. The chart finds the
// image for the cluster's Kubernetes itself. It wants its switches as strings.
func azureCloud(c cluster, a *Addon) {
	a.Values = map[string]any{
		"infra": map[string]any{"clusterName": c.Cluster.Name},
		"cloudControllerManager": map[string]any{
			"allocateNodeCidrs":      "false",
			"configureCloudRoutes":   "false",
			"clusterCIDR":            c.Network.PodCIDR,
			"cloudConfig":            "",
			"cloudConfigSecretName":  azureSecret,
			"enableDynamicReloading": "true",
			"replicas":               1,
			"tolerations":            cloudTolerations(),
		},
	}
	if c.facts.Hosted {
		selector := c.cloudNodes()
		selector[controlPlaneLabel] = nil // null removes the selector of the chart
		a.Values["cloudControllerManager"].(map[string]any)["nodeSelector"] = selector
	}
	a.Secret = azureConfig(c)
	a.Ready.Workloads = append(deployments(kubeSystem, "cloud-controller-manager"), daemonSets(kubeSystem, "cloud-node-manager")...)
}

func azureConfig(c cluster) *Secret {
	fields := map[string]any{"cloud": "AzurePublicCloud", "vmType": "standard", "loadBalancerSku": "standard", "useInstanceMetadata": true}
	if p := c.facts.Platform.Azure; p != nil {
		for field, value := range map[string]string{
			"subscriptionId": p.SubscriptionID, "resourceGroup": p.ResourceGroup, "location": p.Location,
			"vnetName": p.VNetName, "subnetName": p.SubnetName, "securityGroupName": p.SecurityGroupName,
			"resourceManagerEndpoint": p.Endpoint,
		} {
			if value != "" {
				fields[field] = value
			}
		}
	}
	s := &Secret{Namespace: kubeSystem, Name: azureSecret, Key: "cloud-config", Fields: fields}
	if c.credentials() {
		s.Fill = map[string]string{"tenantId": v1alpha1.KeyTenantID, "aadClientId": v1alpha1.KeyClientID, "aadClientSecret": v1alpha1.KeyClientSecret}
	} else {
		fields["useManagedIdentityExtension"] = true
	}
	return s
}
