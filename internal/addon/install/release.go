// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	helmkube "helm.sh/helm/v4/pkg/kube"
	releases "helm.sh/helm/v4/pkg/release"
	status "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	// hookTimeout bounds the wait for one hook, as Helm's own default does.
	hookTimeout = 5 * time.Minute
	// maxHistory bounds the revisions that are kept of a release.
	maxHistory = 3
)

// course is a way to bring a chart to a cluster.
type course int

const (
	first   course = iota // nothing is there
	replace               // nothing was ever completed: the first installation continues
	upgrade
)

// release installs or upgrades the release of a chart, hooks included, and lists
// what it brings. It does not wait for workloads.
func (w *worker) release(ctx context.Context, t task, c *chart.Chart) ([]addon.Ref, error) {
	values, err := helmValues(t.Values)
	if err != nil {
		return nil, err
	}
	// Helm does this too; here it is for the definitions of dependencies.
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return nil, fmt.Errorf("read the dependencies of chart %s: %w", c.Name(), err)
	}
	definitions, err := chartDefinitions(c, t.Addon)
	if err != nil {
		return nil, err
	}
	if err := t.applyAll(ctx, definitions, ""); err != nil {
		return nil, err
	}
	manifest, err := w.runHelm(ctx, t, c, values)
	if err != nil {
		return nil, fmt.Errorf("install chart %s %s as release %s/%s: %w", c.Name(), c.Metadata.Version, t.Namespace.Name, t.Release, err)
	}
	objects, err := parse([]byte(manifest))
	if err != nil {
		return nil, fmt.Errorf("read the objects of chart %s: %w", c.Name(), err)
	}
	return listed(t.Addon, slices.Concat(definitions, objects)), nil
}

// helmValues are as if they had been read from a file, which is what charts are
// written for.
func helmValues(values map[string]any) (common.Values, error) {
	document, err := yaml.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("record the values: %w", err)
	}
	return common.ReadValues(document)
}

func (w *worker) runHelm(ctx context.Context, t task, c *chart.Chart, values common.Values) (string, error) {
	config, err := w.helm(ctx, t)
	if err != nil {
		return "", err
	}
	how, err := recovered(config, t.Release)
	if err != nil {
		return "", err
	}
	if how == upgrade {
		_, err = upgradeAction(config, t).RunWithContext(context.Background(), t.Release, c, values)
	} else {
		_, err = installAction(config, t, how).RunWithContext(context.Background(), c, values)
	}
	if err != nil {
		return "", err
	}
	return deployed(config, t.Release)
}

// installAction repeats a first installation under the same name: objects of an
// earlier one are taken over, and hooks run again.
func installAction(config *action.Configuration, t task, how course) *action.Install {
	a := action.NewInstall(config)
	a.ReleaseName, a.Namespace = t.Release, t.Namespace.Name
	a.Replace = how == replace
	a.ServerSideApply, a.ForceConflicts = true, true
	a.SkipCRDs = true
	// The API server validates what is applied, strictly.
	a.DisableOpenAPIValidation = true
	a.WaitStrategy, a.Timeout = helmkube.HookOnlyStrategy, hookTimeout
	return a
}

func upgradeAction(config *action.Configuration, t task) *action.Upgrade {
	a := action.NewUpgrade(config)
	a.Namespace = t.Namespace.Name
	a.ServerSideApply, a.ForceConflicts = "true", true
	a.SkipCRDs, a.DisableOpenAPIValidation = true, true
	a.ResetValues = true
	a.MaxHistory = maxHistory
	a.WaitStrategy, a.Timeout = helmkube.HookOnlyStrategy, hookTimeout
	return a
}

// recovered settles what an interrupted action has left: a release that is still
// pending has no running process, because there is one per cluster. Nothing
// on the cluster is deleted for it.
func recovered(config *action.Configuration, name string) (course, error) {
	history, err := revisions(config, name)
	if err != nil {
		return first, err
	}
	how, stuck := decide(history)
	for _, r := range stuck {
		r.SetStatus(status.StatusFailed, "interrupted")
		if err := config.Releases.Update(r); err != nil {
			return how, fmt.Errorf("recover the interrupted release %s: %w", name, err)
		}
	}
	return how, nil
}

// revisions are those of a release, the oldest first.
func revisions(config *action.Configuration, name string) ([]*release.Release, error) {
	all, err := config.Releases.History(name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of release %s: %w", name, err)
	}
	var out []*release.Release
	for _, r := range all {
		v1, ok := r.(*release.Release)
		if !ok {
			return nil, fmt.Errorf("release %s was created by an unknown version of Helm", name)
		}
		out = append(out, v1)
	}
	slices.SortFunc(out, func(a, b *release.Release) int { return a.Version - b.Version })
	return out, nil
}

// decide returns how to continue from a history, the oldest revision first, and which
// of its revisions will not be completed.
func decide(history []*release.Release) (how course, stuck []*release.Release) {
	if len(history) == 0 {
		return first, nil
	}
	how = replace
	for _, r := range history {
		switch s := r.Info.Status; {
		case s == status.StatusDeployed, s == status.StatusSuperseded:
			how = upgrade
		case s == status.StatusPendingUpgrade, s == status.StatusPendingRollback:
			how, stuck = upgrade, append(stuck, r)
		case s.IsPending(), s == status.StatusUninstalling, s == status.StatusUnknown:
			stuck = append(stuck, r)
		}
	}
	if s := history[len(history)-1].Info.Status; s == status.StatusUninstalled || s == status.StatusUninstalling {
		how = replace
	}
	return how, stuck
}

// deployed is the manifest of a release that was just deployed. Helm does not
// report when it could not record that.
func deployed(config *action.Configuration, name string) (string, error) {
	last, err := config.Releases.Last(name)
	if err != nil {
		return "", err
	}
	r, err := releases.NewAccessor(last)
	if err != nil {
		return "", err
	}
	if s := r.Status(); s != status.StatusDeployed.String() {
		return "", fmt.Errorf("it was applied, but is recorded as %s", s)
	}
	return r.Manifest(), nil
}
