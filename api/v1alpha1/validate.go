// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate checks the rules that the schema of a ClusterBootstrap cannot express, and
// returns all errors.
func (s ClusterBootstrapSpec) Validate() error {
	errs := []error{s.Network.Validate(), validateLabels("spec.cluster.controlPlane.labels", s.Cluster.ControlPlane.Labels)}
	if s.Cluster.Workers != nil {
		errs = append(errs, validateLabels("spec.cluster.workers.labels", s.Cluster.Workers.Labels))
	}
	return errors.Join(errs...)
}

// validateLabels checks that Kubernetes accepts the labels for a node.
func validateLabels(field string, labels map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if why := validation.IsQualifiedName(key); len(why) > 0 {
			errs = append(errs, fmt.Errorf("%s: key %q: %s", field, key, strings.Join(why, "; ")))
		}
		if why := validation.IsValidLabelValue(labels[key]); len(why) > 0 {
			errs = append(errs, fmt.Errorf("%s: value %q of %s: %s", field, labels[key], key, strings.Join(why, "; ")))
		}
	}
	return errors.Join(errs...)
}

// Validate checks what the schema cannot: it knows no order of IPv6 addresses.
// It repeats the rules for IPv4, so that a spec that no API server has seen is
// held to the same.
func (n NetworkSpec) Validate() error {
	if n.LoadBalancerPool == nil {
		return nil
	}
	start, end, err := n.LoadBalancerPool.addresses()
	if err != nil {
		return fmt.Errorf("spec.network.loadBalancerPool: %w", err)
	}
	// A name is not an address: what it resolves to is not known here.
	vip, err := netip.ParseAddr(n.VIP)
	if err == nil && vip.Is4() == start.Is4() && vip.Compare(start) >= 0 && vip.Compare(end) <= 0 {
		return fmt.Errorf("spec.network.vip %s must lie outside loadBalancerPool %s-%s", vip, start, end)
	}
	return nil
}

// addresses returns both ends of a range that is one.
func (r AddressRange) addresses() (start, end netip.Addr, err error) {
	if start, err = netip.ParseAddr(r.Start); err != nil {
		return start, end, fmt.Errorf("start %q must be an IP address", r.Start)
	}
	if end, err = netip.ParseAddr(r.End); err != nil {
		return start, end, fmt.Errorf("end %q must be an IP address", r.End)
	}
	if start.Is4() != end.Is4() {
		return start, end, fmt.Errorf("start %s and end %s must both be IPv4 or both be IPv6", start, end)
	}
	if start.Compare(end) > 0 {
		return start, end, fmt.Errorf("start %s must not lie after end %s", start, end)
	}
	return start, end, nil
}
