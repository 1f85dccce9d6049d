// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func ownership() []Entry {
	return []Entry{
		{"OwnerMissing", "a call names no owner", "set the annotation `butler.butlerlabs.dev/owner-id` of the request"},
		{"OwnerTaken", "the request is a copy: another one has its owner id", "delete the copy. To give the machine to it, remove its annotation `butler.butlerlabs.dev/claimed-by`"},
		{"ClusterIDTaken", "the ClusterBootstrap is a copy: another one has its cluster id", "delete it and create it without the annotation `butler.butlerlabs.dev/cluster-id`. If the other one is gone for good, remove `butler.butlerlabs.dev/claimed-by` from it and from its requests"},
		{"NameTaken", "an object of that name belongs to another owner or cluster", "remove it if its owner is gone, or choose another name"},
		{"SecretTaken", "a Secret of that name belongs to another cluster", "delete it if that cluster is gone"},
		{"AdoptionRefused", "the machine is not the one to adopt", "correct the annotation that names the machine, or remove it"},
		{"SelfHosted", "something of a cluster that manages itself is being deleted; nothing is deleted by controllers that run on it", "run `butleradm destroy`, which moves the management back first"},
		{"ProviderConfigMissing", "the ProviderConfig does not exist", "apply it, or name another one"},
		{"ProviderConfigNotFound", "the ProviderConfig of a request does not exist", "apply it again: the request keeps its machine until then"},
		{"ProviderConfigNotGranted", "the ProviderConfig is of another namespace and does not allow this one", "add the namespace to its annotation `butler.butlerlabs.dev/allowed-namespaces`, or use one of the same namespace"},
		{"ProviderScope", "the ProviderConfig belongs to a team and is used outside of it", "use one of scope platform, or of the team itself"},
		{"ProviderMismatch", "`spec.provider` is not that of the ProviderConfig", "correct one of them"},
	}
}

func orphans() []Entry {
	return []Entry{
		{"Orphaned", "an object with the id of a cluster is on the platform, and no request owns it", "look at `status.orphans` of the ProviderConfig; see the [runbook](../runbooks/ButlerOrphans.md)"},
		{"Copied", "an object that Butler did not create has the tags of a machine: a clone or a restore of the platform", "none: Butler never deletes it. To remove it, use the tools of the platform, see [copies](../concepts/ownership.md#copies)"},
		{"OrphanGone", "an orphan is gone from the platform, or has a request again", ""},
		{"OrphanDeleting", "an orphan is about to be deleted", ""},
		{"OrphanKept", "the platform does not delete an orphan; the message has the cause", "do what the message says. The deletion is retried with every sweep"},
	}
}
