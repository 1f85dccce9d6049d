// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// For returns the addons of a cluster, each after all that it needs. It refuses
// a spec whose addons cannot work together, and says what to set.
func For(spec v1alpha1.ClusterBootstrapSpec, facts Facts) ([]Addon, error) {
	c := cluster{spec, facts}
	rows := slices.DeleteFunc(catalogue(), func(r row) bool { return !r.installed(c) })
	if err := errors.Join(unmet(rows), c.checkPool(), c.checkVersion(), c.checkCore(), c.checkVersions(rows), c.checkCredentials()); err != nil {
		return nil, err
	}
	var addons []Addon
	for _, r := range rows {
		addons = append(addons, r.addon(c, rows))
	}
	return inOrder(addons)
}

// Controllers returns this project's controllers for the plane of a cluster, whatever
// addons the cluster has: one of each, which need nothing else there.
func Controllers(spec v1alpha1.ClusterBootstrapSpec, facts Facts) (out []Addon) {
	c := cluster{spec, facts}
	for _, r := range catalogue() {
		switch r.key {
		case ButlerBootstrap, ButlerController, ButlerProvider + string(spec.Provider):
			a := r.addon(c, nil)
			a.Values["replicaCount"] = 1
			out = append(out, a)
		}
	}
	return out
}

// addon is what a row means for one cluster.
func (r row) addon(c cluster, installed []row) Addon {
	a := Addon{Key: r.key, Source: r.source, Release: r.release, Namespace: r.namespace, Version: r.version}
	if a.Namespace.Name == butlerSystem && c.console() {
		a.Namespace.PodSecurity = Baseline // the pods of the console meet no more
	}
	if r.source.Kind == ChartCarried {
		a.Version = like("", c.facts.Version)
	}
	if r.override != nil {
		a.Version = like(a.Version, cmp.Or(r.override(c.Addons), a.Version))
	}
	if a.Version == r.version {
		a.Source.Digest = r.digest
	}
	for _, n := range r.needs {
		if has(installed, n.key) {
			a.Needs = append(a.Needs, n.key)
		}
	}
	if r.fill != nil {
		r.fill(c, &a)
	}
	return a
}

func has(rows []row, key string) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.key == key })
}

// unmet names the hard dependencies that a cluster goes without.
func unmet(installed []row) error {
	var errs []error
	for _, r := range installed {
		for _, n := range r.needs {
			if n.hard && !has(installed, n.key) {
				errs = append(errs, fmt.Errorf("%s needs %s: set %s, or %s", r.key, n.key, switchOn(n.key), r.off))
			}
		}
	}
	return errors.Join(errs...)
}

func switchOn(key string) string {
	var ways []string
	for _, r := range catalogue() {
		if r.key == key {
			ways = append(ways, r.on)
		}
	}
	return strings.Join(ways, " or ")
}

// checkPool refuses a deprecated pool that MetalLB would refuse. The pool of the
// network is checked with the spec.
func (c cluster) checkPool() error {
	pool := c.Addons.LoadBalancer.AddressPool
	if pool == "" || c.Network.LoadBalancerPool != nil {
		return nil
	}
	if _, err := netip.ParsePrefix(pool); err == nil {
		return nil
	}
	start, end, _ := strings.Cut(pool, "-")
	r := v1alpha1.AddressRange{Start: strings.TrimSpace(start), End: strings.TrimSpace(end)}
	if err := (v1alpha1.NetworkSpec{LoadBalancerPool: &r}).Validate(); err != nil {
		return fmt.Errorf("spec.addons.loadBalancer.addressPool %q must be a CIDR or a range such as 10.40.0.210-10.40.0.250; better set spec.network.loadBalancerPool", pool)
	}
	return nil
}

// checkVersion makes sure that no image of this project is left without a tag.
func (c cluster) checkVersion() error {
	if c.butler() && c.facts.Version == "" {
		return errors.New("the version of this program is not known, so that its charts cannot be installed: build it with a version, or set spec.addons.butlerController.enabled to false")
	}
	return nil
}

// release is how versions look that charts, manifests and images are found by.
var release = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)

// checkVersions refuses a version such as latest: it would not be known
// what was installed.
func (c cluster) checkVersions(rows []row) error {
	var errs []error
	for _, r := range rows {
		if r.override == nil {
			continue
		}
		if v := r.override(c.Addons); v != "" && !release.MatchString(v) {
			errs = append(errs, fmt.Errorf("%s has no version %q: set one such as %s, or leave it out", r.key, v, r.version))
		}
	}
	if !on(c.Addons.CAPI.Enabled) {
		return errors.Join(errs...)
	}
	for _, p := range infrastructure(c, lineOf(c.Addons.CAPI.Version)) {
		if !release.MatchString(p.Version) {
			errs = append(errs, fmt.Errorf("spec.addons.capi.infrastructureProviders: %s has no version %q: set one such as %s, or leave it out",
				p.Platform, p.Version, lineOf(c.Addons.CAPI.Version).Providers[p.pin()]))
		}
	}
	return errors.Join(errs...)
}
