// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func machines() []Entry {
	return []Entry{
		{"VMCreating", "the machine is being created, or has no address so far", "none for some minutes. After that, look at the console of the VM: it may not boot, or get no lease"},
		{"NoAddress", "the machine runs, and the platform reports no address of it", "check DHCP in its network, and that the image has the guest agent of the platform, if it needs one"},
		{"StartFailed", "the machine exists, and the platform could not start it", "read what the platform's message says; it is retried"},
		{"NotVisible", "the platform says that the machine exists, and does not show it yet", ""},
		{"VMNotVisible", "the machine was requested, and the platform does not show it yet", ""},
		{"VMRunning", "the machine runs and has an address", ""},
		{"VMNotRunning", "the machine does not run at the moment; the platform restarts it", "look at the platform if it does not come back"},
		{"VMIncomplete", "a part of a machine that ran before is missing, such as a disk; a new one would be empty", "restore the part, or replace the machine"},
		{"VMLost", "the machine is gone from the platform, or was switched off", "start it, or replace it: `spec.remediation: ReplaceWorkers` does so for workers"},
		{"VMBroken", "the platform reports that the machine cannot run", "do what the platform's message says"},
		{"VMDeleting", "the machine is being deleted", ""},
		{"VMDeleted", "nothing of the machine is left", ""},
		{"VMCreated", "event: the machine was created", ""},
		{"VMRecovered", "event: the machine has left Failed or Unknown", ""},
		{"AttemptInvalid", "the record of an attempt to create cannot be used; another attempt is planned", ""},
		{"AttemptSpent", "what an attempt created is gone again, and its call creates nothing more; another attempt follows", "none, unless it repeats: then the platform terminates the machine, and its message says why"},
		{"PartDeleting", "an object of an earlier attempt is still being deleted", ""},
		{"DeletionRefused", "the platform keeps an object that something else uses", "remove what uses it; the message names it"},
	}
}

func balancers() []Entry {
	return []Entry{
		{"LoadBalancerCreating", "the load balancer is being created, or has no endpoint so far", ""},
		{"LoadBalancerNotVisible", "the load balancer was requested, and the platform does not show it yet", ""},
		{"LoadBalancerReady", "the load balancer has an endpoint and passes traffic", ""},
		{"LoadBalancerNotReady", "the load balancer had an endpoint and is not ready at the moment", "look at the platform if it does not come back"},
		{"TargetsMissing", "machines of the request are not targets of the load balancer", "none, if it passes. Otherwise look at the machines that are targets"},
		{"TargetsChanged", "event: the targets were changed", ""},
		{"LoadBalancerLost", "the load balancer is gone from the platform; another one would have another endpoint", "delete the request and create a new one"},
		{"LoadBalancerBroken", "the platform reports that the load balancer cannot work", "do what the platform's message says"},
		{"LoadBalancerDeleting", "the load balancer is being deleted", ""},
		{"LoadBalancersUnsupported", "the provider has no load balancers", "delete the request; on-prem clusters use a virtual IP"},
		{"LoadBalancerCreated", "event: the load balancer was created", ""},
		{"LoadBalancerRecovered", "event: the load balancer has left Failed", ""},
	}
}
