// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func access() []Entry {
	return []Entry{
		{"TenancyMode", "the mode of the ButlerConfig does not admit the cluster: with or without a team, or in this namespace", "create it in the namespace that the message names, with or without `spec.teamRef`"},
		{"TeamNotReady", "the Team does not exist, or is not Ready", "create it, or see its conditions"},
		{"ProviderConfig", "no ProviderConfig is named, it does not exist, or it does not admit the cluster. Of the condition FieldsWithoutEffect: some of its fields do not apply to workers", "set `spec.providerConfigRef`, or correct the ProviderConfig as the message says"},
		{"NotAllowed", "a limit of the Team does not allow the version, the provider or an addon", "choose what the Team allows, or change its `resourceLimits`"},
		{"ClusterAPIMissing", "the management cluster does not serve a kind of Cluster API", "install it: `spec.addons.capi` of the ClusterBootstrap"},
		{"NotServed", "the spec asks for something that is not served on this platform", "change what the message names"},
		{"NotResolved", "a value that only the platform knows could not be found out", "the message has the cause"},
		{"InvalidConfiguration", "the Talos configuration of the workers is not valid", "correct the field that the message names"},
		{"CreatedElsewhere", "the TenantCluster was restored without its namespace, and was created on another management cluster", "restore its namespace too, or remove the annotations that the message names, to create a new cluster"},
		{"NamespaceConflict", "the namespace belongs to another cluster or team", "this object is a copy: delete it, or choose another name"},
		{"AddressQuotaReached", "the cluster needs more addresses than `network.quotaPerTenant` of the ProviderConfig allows", "ask for fewer, or raise it"},
		{"VersionSkew", "the control plane cannot change to the wanted version: a downgrade, or more than one minor version", "upgrade one minor version at a time"},
	}
}

func tenants() []Entry {
	return []Entry{
		{"Ready", "everything of the object is ready", ""},
		{"NotObserved", "the step is not reached: an earlier one waits", "see the first condition that is not True"},
		{"WaitingForAuthority", "the Secret with the authority of the cluster has no certificate yet", ""},
		{"WaitingForTrustd", "the Secret with the authority of the Talos API does not exist yet", "check that Steward or Kamaji runs"},
		{"WaitingForExposure", "the control plane has no address yet, or Gateway, TLSRoute or ingress controller are missing", "the message names what is missing"},
		{"WaitingForControlPlane", "the hosted control plane is not ready", "the message has the cause that Cluster API reports; see the pods in the tenant namespace"},
		{"WaitingForInfrastructure", "the infrastructure cluster is not ready", "the message has the cause that the provider of Cluster API reports"},
		{"WaitingForWorkers", "workers do not exist yet, or have not joined", "see the Machines in the tenant namespace"},
		{"Upgrading", "the control plane is being upgraded", ""},
		{"RollingOut", "workers are being replaced", ""},
		{"Scaling", "workers are being added or removed", ""},
		{"AddressesGrow", "event: further addresses are allocated for Services", ""},
	}
}

func deletion() []Entry {
	return []Entry{
		{"DeletingServices", "load balancers that the tenant created are being deleted", ""},
		{"DeletingCluster", "objects of Cluster API are being deleted; the message names the first and what keeps it", "see the controller of the finalizer that the message names"},
		{"DeletingNamespace", "the namespace is being deleted", "the message names what is left in it"},
		{"ReleasingAddresses", "the addresses of the cluster are being released", ""},
		{"TenantUnreachable", "the API server of the tenant does not answer; the deletion continues without it in a while", "if it shall remove load balancers and volumes of the tenant: repair the control plane"},
		{"LeftOnPlatform", "load balancers or volumes of the tenant stay on the platform", "remove those that the message names, by the platform's own tools"},
	}
}

func teams() []Entry {
	return []Entry{
		{"NamespaceReady", "the namespace of the Team exists", ""},
		{"RBACReady", "the roles of the Team's members exist", ""},
		{"DeletionBlocked", "the Team is being deleted and has tenant clusters", "delete them first"},
		{"InForce", "the ButlerConfig is in force; the message has the mode of exposure", ""},
		{"IngressClassMissing", "the IngressClass of the ButlerConfig does not exist, or none is the default", "install an ingress controller, or name one that exists"},
		{"GatewayMissing", "the Gateway of the ButlerConfig does not exist", "create it, or name another one"},
		{"GatewayAPIMissing", "the cluster does not serve the Gateway API", "install it, and a controller for it"},
	}
}
