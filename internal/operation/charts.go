// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// CheckChartDir refuses a directory that lacks addons of a manifest: no one would
// put them there while machines wait for them. What is elsewhere may come yet.
func CheckChartDir(ctx context.Context, where string, m *manifest.Manifest) error {
	if where == "" || isRemote(where) {
		return nil
	}
	addons, err := fetchedOf(m)
	if err != nil {
		return err
	}
	stock, err := source.New(source.Options{Charts: where})
	if err != nil {
		return failure.Usagef("--charts: %w", err)
	}
	var missing []error
	for _, a := range addons {
		if _, err := stock.Fetch(ctx, a, AnyVariables); err != nil {
			missing = append(missing, err)
		}
	}
	if err := errors.Join(missing...); err != nil {
		return failure.Usagef("%w\nbutleradm addons pull fetches what is missing; nothing was changed", err)
	}
	return nil
}

// CheckCharts refuses a source that would have no effect: the addons of a cluster
// that manages itself are fetched by its own butler-bootstrap, from its own source. A
// directory of this machine is accepted while nothing has to be fetched.
func (o *Operation) CheckCharts(m *manifest.Manifest, known *v1alpha1.ClusterBootstrap) error {
	if o.Charts == "" || o.InCharge() == LocalPlane {
		return nil
	}
	d := &appsv1.Deployment{}
	if err := o.Client().Get(o.ctx, client.ObjectKey{Namespace: addon.PlatformNamespace, Name: addon.ButlerBootstrap}, d); err != nil {
		return err
	}
	from := chartsOf(d)
	if from == o.Charts {
		return nil
	}
	if !isRemote(o.Charts) {
		if same, err := sameFetched(m, known); err != nil || same {
			return err
		}
	}
	return failure.Usagef("%s manages itself, its own butler-bootstrap fetches addons from %s, and --charts does not change that; remove it, or set a registry with the argument --charts=oci://REGISTRY/PATH of butler-bootstrap: kubectl -n %s edit deployment %s",
		o.Name, from, d.Namespace, d.Name)
}

// chartsOf is where a butler-bootstrap fetches addons from.
func chartsOf(d *appsv1.Deployment) string {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, arg := range c.Args {
			if place, given := strings.CutPrefix(arg, "--charts="); given {
				return place
			}
		}
	}
	return source.Upstream
}

// sameFetched reports whether a manifest asks for no other addons from elsewhere
// than the cluster has already.
func sameFetched(m *manifest.Manifest, known *v1alpha1.ClusterBootstrap) (bool, error) {
	wanted, err := fetchedOf(m)
	if err != nil {
		return false, err
	}
	has, err := fetchedOf(&manifest.Manifest{Cluster: known, Provider: m.Provider})
	return reflect.DeepEqual(wanted, has), err
}

// fetchedOf are the addons of a manifest that this program does not carry.
func fetchedOf(m *manifest.Manifest) ([]addon.Addon, error) {
	addons, err := AddonsOf(m)
	return slices.DeleteFunc(addons, IsCarried), err
}

// IsCarried is an addon for which nothing has to be fetched.
func IsCarried(a addon.Addon) bool {
	return a.Source.Kind == addon.ChartCarried || a.Source.Kind == addon.Objects
}

// ChartWarnings warns of a place that a cluster cannot fetch from when it manages
// itself.
func ChartWarnings(where string, m *manifest.Manifest) []string {
	if where == "" || isRemote(where) || !bootstrap.Moves(m.Cluster.Spec) {
		return nil
	}
	return []string{fmt.Sprintf("%s will manage itself and cannot read %s: addons that it installs or changes later come from upstream; with --charts oci://REGISTRY/PATH they come from a registry", m.Cluster.Spec.Cluster.Name, where)}
}

// newSource is where the addons of the cluster come from.
func (o *Operation) newSource() (*source.Source, error) {
	options := source.Options{Charts: o.Charts, Carried: charts.FS}
	if o.Rehearsal && !isRemote(o.Charts) {
		var err error
		if options.HTTP, err = NewSimulatedHTTP(o.Dial(), o.Simulator.CA); err != nil {
			return nil, err
		}
		options.StandIns = true
	}
	return source.New(options)
}

// isRemote is a place that a rehearsal, too, reaches over the real network: the
// user has named it.
func isRemote(where string) bool {
	return where == source.Upstream || strings.HasPrefix(where, "oci://")
}

// NewSimulatedHTTP fetches over the simulated network and no other, from servers
// that have certificates of the usual authorities or of the one in a file.
func NewSimulatedHTTP(dial workspace.Dialer, ca string) (*http.Client, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if ca != "" {
		data, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read the authority of the stand-ins: %w", err)
		}
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("the authority of the stand-ins: %s holds no certificate", ca)
		}
	}
	return &http.Client{Transport: &http.Transport{
		DialContext:         dial,
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}}, nil
}

// AnyVariables completes components that are not applied.
func AnyVariables(p addon.Provider) (map[string]string, error) {
	values := map[string]string{}
	for _, v := range p.Variables {
		values[v.Name] = "any"
	}
	return values, nil
}
