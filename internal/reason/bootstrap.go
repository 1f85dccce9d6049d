// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func waiting() []Entry {
	return []Entry{
		{"RegistrySecretMissing", "a Secret that `spec.registries` names does not exist, or has none of its keys", "create it. A cluster that is Ready continues, but configures no new machine"},
		{"WaitingForMachines", "a machine is not Running, or has no address; the message is that of its MachineRequest", "see the reason of the MachineRequest"},
		{"WaitingForLoadBalancer", "the load balancer has no endpoint; the message is that of its request", "see the reason of the LoadBalancerRequest"},
		{"WaitingForTalos", "a machine does not answer on the Talos API (port 50000), did not accept its configuration, or belongs to another cluster", "check that the address is reachable from the controller; see the [network requirements](../concepts/reach.md)"},
		{"WaitingForEtcd", "the first control plane is not ready for etcd: its kubelet service does not run", "look at its console: images may not be pulled, or time servers not be reachable"},
		{"EtcdStarts", "the start of etcd was requested; it is requested again after five minutes", "look at the console of the machine that the message names, if it lasts"},
		{"WaitingForKubeconfig", "no control plane issues a kubeconfig, or the current one has expired; of a tenant cluster: its control plane has issued none", "check that the control plane runs"},
		{"WaitingForKubernetes", "no API server of the cluster answers", "check that control planes run and are reachable at port 6443"},
		{"InstallingKubeVIP", "kube-vip could not be applied so far", "none, if it passes; the message has the cause"},
		{"WaitingForEndpoint", "the API server does not answer at the endpoint; the message names what must provide it", "check the VIP, the load balancer or the name of `spec.network.vip`"},
		{"WaitingForNodes", "a node has not joined, or is not Ready", "the message has the node's own cause; often the network addon is not ready, or an image is not pulled"},
		{"WaitingForMembers", "a control plane is not a voting member of etcd", "check that control planes reach each other at ports 2379 and 2380"},
		{"WaitingForTargets", "a control plane has joined, but does not have the address of the load balancer yet", "none: its own API server has to be ready first"},
		{"WaitingForServices", "a service of Talos does not run, or is not healthy", "the message names machine and service; `talosctl` shows its log"},
		{"WaitingForAddons", "an addon is not ready; the message names the object", "see the events of that object"},
		{"AddonFailing", "an addon could not be fetched or applied; it is retried", "the message has the cause: a registry, a proxy, a value of the manifest"},
		{"FetchFailed", "of an addon: its chart or manifest could not be fetched", "check the repository or registry that the message names, proxies and `--charts`"},
		{"ApplyFailed", "of an addon: its objects could not be applied", "the message has the answer of the API server"},
		{"HookFailed", "of an addon: a hook of its chart fails", "see the Job or Pod that the message names"},
		{"WebhookRefused", "of an addon: an admission webhook refuses its objects, or does not answer", "check the addon that has the webhook"},
		{"HandingOver", "the new cluster did not accept its ProviderConfig, its Secret or its ButlerConfig", "none, if it passes; the message has the cause"},
		{"ReadyToPivot", "everything is ready for the cluster to manage itself", "run `butleradm bootstrap` again, if it does not run; the message says why a move failed"},
		{"SecretDeleted", "the Secret `<cluster>-talos-secrets` was deleted, whose keys the machines use", "restore it, or destroy the cluster"},
		{"MachineRequestDeleted", "a MachineRequest was deleted while its machine was needed", "before the cluster was Ready: destroy it and start again. After that: replace the machine"},
		{"LoadBalancerRequestDeleted", "the LoadBalancerRequest was deleted while its endpoint was in use", "destroy the cluster and start again"},
		{"Retrying", "an error that passes by itself; the message has it", ""},
		{"Paused", "`spec.paused` is true", "set it to false to continue"},
		{"Deleting", "requests or Secrets still exist; the message names the first, and what it waits for", "see the reason of that request"},
	}
}

func failed() []Entry {
	return []Entry{
		{"InvalidSpec", "the spec is invalid: Talos or Kubernetes version, labels, ranges, a missing `network.vip`", "correct the field that the message names"},
		{"InvalidAddons", "the addons are inconsistent", "set the field that the message names"},
		{"InvalidTalosConfig", "a patch of `spec.talos` does not apply, or its result is not a valid configuration", "correct the patch"},
		{"UserDataTooLarge", "a configuration has more bytes than user data may have on the platform", "shorten the patches of `spec.talos`, or set `publicIP: true` or `spec.network.nodeAccess: Direct`, so that it is pushed"},
		{"TalosVersionMismatch", "a machine runs another Talos than `spec.talos.version`", "correct the version before anything is configured, or start again from another image"},
		{"TalosSchematicMismatch", "the image of a machine is of another schematic; as a failure: it lacks an extension that an addon needs", "destroy the cluster and use an image of `spec.talos.schematic`"},
		{"RemediationNotSupported", "`remediation: ReplaceWorkers` on a single node", "remove it"},
		{"AmbientCredentials", "the cluster is to manage itself, and its ProviderConfig has no `credentialsRef`; ambient credentials are never copied", "put credentials into a Secret, or set `spec.addons.butlerController.enabled: false`"},
	}
}

func running() []Entry {
	return []Entry{
		{"BootstrapComplete", "all nodes and addons are Ready", ""},
		{"AddonsReady", "all addons are ready", ""},
		{"InSecrets", "the credentials of the cluster are in the Secrets that the message names", ""},
		{"InSecretsAndStatus", "the same, and they are in the status, as the spec asks", ""},
		{"KubeconfigPending", "no kubeconfig is issued yet", ""},
		{"Pivoted", "the cluster manages itself; the message has the epoch", ""},
		{"MoveStopped", "the last attempt to move the management failed and was rolled back", "the message has the stage and the cause; run `butleradm bootstrap` again after that"},
		{"MachineLost", "a machine must be replaced, and a rule forbids it", "the message names the rule; see [lost machines](clusterbootstrap.md#lost-machines)"},
		{"ReplacingMachine", "a machine is being replaced; the message has the progress", ""},
		{"MachineReplaced", "event: a machine was replaced, and its node is Ready", ""},
		{"AddingMachine", "a machine that was added to a Ready cluster cannot be requested yet; the message has the cause", "none, if its address or the end of an earlier machine of that name is waited for"},
		{"RemovingMachine", "a worker that the spec no longer has is drained and removed; the message has the progress", "if it names a pod that cannot be evicted: change its PodDisruptionBudget or its number of replicas, or delete the pod; see [scaling](clusterbootstrap.md#scaling-workers)"},
		{"MachineRemoved", "event: a worker was removed, with its node", ""},
		{"ReplacementRefused", "event: a machine is not replaced", "the message has the cause"},
		{"CredentialsRenewed", "event: talosconfig or kubeconfig were about to expire, and were replaced in their Secrets", ""},
		{"AddonReady", "event: an addon has become ready", ""},
		{"AddonLost", "event: an addon is no longer ready", "see the events of the object that the message names"},
		{"EvenControlPlanes", "event: an even number of control planes survives the loss of no more machines than one fewer would", "use an odd number"},
		{"OneControlPlane", "event: topology `ha` with one control plane is not highly available", "use three"},
		{"Addons", "event: an addon will probably not work with this spec", "the message says which, and what it needs"},
	}
}
