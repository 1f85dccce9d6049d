// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

// rule is one demand of the contract.
type rule struct {
	name          string
	check         func(*trial)
	loadBalancers bool
}

// Rules returns the names of all rules, in the order of the documentation.
func Rules() []string {
	all := rules()
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.name
	}
	return names
}

const (
	ruleLostResponse = "create after a lost response"
	ruleRecord       = "recorded attempt"
	rulePartial      = "partial create resumed"
	ruleAddress      = "requested address"
	ruleThrottled    = "throttled"
	ruleDenied       = "denied"
	ruleCapacity     = "out of capacity"
	ruleMissing      = "missing image or network"
	ruleRefused      = "refused fields"
)

func rules() []rule {
	return []rule{
		{name: "create", check: create},
		{name: "repeat create", check: repeatCreate},
		{name: ruleLostResponse, check: createAfterLostResponse},
		{name: ruleRecord, check: attemptIsRecorded},
		{name: rulePartial, check: partialCreateResumed},
		{name: "observe absent", check: observeAbsent},
		{name: "address appears", check: addressAppears},
		{name: ruleAddress, check: requestedAddress},
		{name: "kubelet provider id", check: kubeletProviderID},
		{name: "delete", check: deletes},
		{name: "repeat delete", check: repeatDelete},
		{name: "delete of what never existed", check: deleteUnknown},
		{name: "foreign machine of the same name", check: foreignMachine},
		{name: "two requests for one name", check: twoRequests},
		{name: "copies are kept", check: copiesAreKept},
		{name: ruleThrottled, check: throttled},
		{name: ruleDenied, check: denied},
		{name: ruleCapacity, check: outOfCapacity},
		{name: ruleMissing, check: missingImageOrNetwork},
		{name: "extra disks", check: extraDisks},
		{name: "user data", check: userData},
		{name: "labels", check: labels},
		{name: ruleRefused, check: refusedFields},
		{name: "list by owner", check: listByOwner},
		{name: "list by cluster name", check: listByName},
		{name: "the cluster's name decides nothing", check: nameDecidesNothing},
		{name: "list reports all parts", check: listParts},
		{name: ruleListing, check: listingAgrees},
		{name: "slow list", check: slowList},
		{name: "task that fails late", check: lateFailure},
		{name: "survives a drain", check: survivesDrain},
		{name: "changes are pushed", check: changesArePushed},
		{name: "adopt", check: adoptsWhatIsNamed},
		{name: "identity", check: identity},
		{name: "context cancelled", check: contextCancelled},
		{name: "no byte outside Config.Transport", check: transportOnly},
		{name: "agent on every request", check: agentOnly},
		{name: "no secret in any error or log line", check: noSecret},
		{name: "load balancer ensure", check: balancerEnsure, loadBalancers: true},
		{name: "load balancer targets change", check: balancerTargets, loadBalancers: true},
		{name: "load balancer ports change", check: balancerPorts, loadBalancers: true},
		{name: "load balancer partial", check: balancerPartial, loadBalancers: true},
		{name: "load balancer delete", check: balancerDelete, loadBalancers: true},
		{name: "load balancer repeat", check: balancerRepeat, loadBalancers: true},
		{name: "load balancer list", check: balancerList, loadBalancers: true},
	}
}
