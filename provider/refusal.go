// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

// New returns an Error of this kind: what was tried, one word for machines, what the
// platform said, and what to do.
func (k Kind) New(op, reason string, err error, hint string) error {
	return &Error{Kind: k, Reason: reason, Op: op, Hint: hint, Err: err}
}

// NameTaken is the Conflict with an object of another owner that has the name; field is
// where another name can be set.
func NameTaken(op, object, field string) error {
	return Conflict.New(op, ReasonNameTaken, fmt.Errorf("%s exists and does not belong to this request", object), "remove it, or choose another "+field)
}

// PartDeleting is the error of a Create that finds an object of an earlier attempt which
// the platform still deletes.
func PartDeleting(op, object string) error {
	return Unavailable.New(op, ReasonPartDeleting, fmt.Errorf("%s of an earlier attempt is still being deleted", object), "creation continues when that is gone")
}

// CheckOwner refuses a List for no owner.
func CheckOwner(op string, o Owner) error {
	if o == (Owner{}) {
		return Invalid.New(op, ReasonOwnerMissing, nil, "name a request or a cluster")
	}
	return nil
}

// CheckSpec refuses a machine without an owner, one whose network is described twice, and
// labels that the driver sets: the tags of ownership and those in reserved. Role and cluster
// may be repeated as they are.
func CheckSpec(op string, s MachineSpec, reserved ...string) error {
	if s.Owner.ID == "" {
		return Invalid.New(op, ReasonOwnerMissing, errors.New("the machine has no owner"), "set the annotation "+tag.OwnerID+" of the request")
	}
	if s.Network != nil && s.NetworkData != "" {
		return Invalid.New(op, ReasonFieldUnsupported, errors.New("both spec.network and spec.networkData are set"), "remove one of them by a new request")
	}
	for _, l := range append([]string{tag.OwnerID, tag.ClusterID, tag.Machine}, reserved...) {
		if _, set := s.Labels[l]; set {
			return labelReserved(op, errors.New("spec.labels sets "+l))
		}
	}
	for _, is := range []struct{ label, what, value string }{
		{v1alpha1.LabelRole, "spec.role", string(s.Role)}, {tag.Cluster, "the cluster", s.Owner.Cluster},
	} {
		if given, set := s.Labels[is.label]; set && is.value != "" && given != is.value {
			return labelReserved(op, fmt.Errorf("spec.labels sets %s to %q, but %s is %q", is.label, given, is.what, is.value))
		}
	}
	return nil
}

// RefuseAddress refuses a machine for which an address is chosen, on a platform that chooses
// addresses itself.
func RefuseAddress(op, platform string, s MachineSpec) error {
	if s.Network == nil {
		return nil
	}
	return Invalid.New(op, ReasonAddressUnsupported, fmt.Errorf("spec.network has no effect on %s machines: the platform chooses their addresses", platform), "create a request without it")
}

func labelReserved(op string, err error) error {
	return Invalid.New(op, ReasonLabelReserved, err, "remove it: the driver sets it itself")
}

// RefuseNetwork refuses the fields of spec.network that have no effect on the platform's
// machines; honoured names those that have one, such as "subnet".
func RefuseNetwork(op, platform string, n *v1alpha1.ProviderNetworkSpec, honoured ...string) error {
	if n == nil {
		return nil
	}
	for _, f := range []struct {
		name, text string
		set        bool
	}{
		{"dnsServers", "dnsServers", len(n.DNSServers) > 0},
		{"gateway", "gateway", n.Gateway != ""},
		{"loadBalancer", "loadBalancer", n.LoadBalancer != nil},
		{"mode", "mode: ipam", n.Mode == v1alpha1.NetworkModeIPAM},
		{"poolRefs", "poolRefs", len(n.PoolRefs) > 0},
		{"quotaPerTenant", "quotaPerTenant", n.QuotaPerTenant != nil},
		{"subnet", "subnet", n.Subnet != ""},
		{"timeServers", "timeServers", len(n.TimeServers) > 0},
	} {
		if f.set && !slices.Contains(honoured, f.name) {
			return Invalid.New(op, ReasonFieldUnsupported, fmt.Errorf("spec.network.%s has no effect on %s machines", f.text, platform), "remove it")
		}
	}
	return nil
}

// RefuseNetworkWithoutPools is RefuseNetwork for a platform whose machines can have an address
// from a NetworkPool: with mode ipam all fields have an effect but subnet, which is the cidr
// of the pool.
func RefuseNetworkWithoutPools(op, platform string, n *v1alpha1.ProviderNetworkSpec) error {
	if n == nil || n.Mode != v1alpha1.NetworkModeIPAM {
		return RefuseNetwork(op, platform, n)
	}
	return RefuseNetwork(op, platform, n, "mode", "poolRefs", "gateway", "dnsServers", "timeServers", "loadBalancer")
}
