// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	helmkube "helm.sh/helm/v4/pkg/kube"
	status "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"

	"github.com/butlerdotdev/butler/internal/addon"
)

func TestHistoryDecidesHowToContinue(t *testing.T) {
	for reason, c := range map[string]struct {
		history []status.Status
		how     course
		stuck   []int
	}{
		"nothing is there":                      {nil, first, nil},
		"a release that works is upgraded":      {[]status.Status{status.StatusDeployed}, upgrade, nil},
		"a failed upgrade is tried again":       {[]status.Status{status.StatusDeployed, status.StatusFailed}, upgrade, nil},
		"a killed first installation continues": {[]status.Status{status.StatusPendingInstall}, replace, []int{1}},
		"a failed first installation continues": {[]status.Status{status.StatusFailed, status.StatusFailed}, replace, nil},
		"and when it was killed again":          {[]status.Status{status.StatusFailed, status.StatusPendingInstall}, replace, []int{2}},
		"a killed upgrade":                      {[]status.Status{status.StatusDeployed, status.StatusPendingUpgrade}, upgrade, []int{2}},
		"a killed upgrade, almost through":      {[]status.Status{status.StatusSuperseded, status.StatusPendingUpgrade}, upgrade, []int{2}},
		"a killed upgrade without a history":    {[]status.Status{status.StatusPendingUpgrade}, upgrade, []int{1}},
		"a killed rollback":                     {[]status.Status{status.StatusDeployed, status.StatusFailed, status.StatusPendingRollback}, upgrade, []int{3}},
		"it was uninstalled":                    {[]status.Status{status.StatusSuperseded, status.StatusUninstalled}, replace, nil},
		"the uninstallation was killed":         {[]status.Status{status.StatusSuperseded, status.StatusUninstalling}, replace, []int{2}},
		"the status is unknown":                 {[]status.Status{status.StatusUnknown}, replace, []int{1}},
	} {
		t.Run(reason, func(t *testing.T) {
			var history []*release.Release
			for i, s := range c.history {
				history = append(history, &release.Release{Version: i + 1, Info: &release.Info{Status: s}})
			}
			how, stuck := decide(history)
			var versions []int
			for _, r := range stuck {
				versions = append(versions, r.Version)
			}
			if how != c.how {
				t.Errorf("it continues by %d; want %d", how, c.how)
			}
			if d := cmp.Diff(c.stuck, versions); d != "" {
				t.Errorf("stuck revisions (-want +got):\n%s", d)
			}
		})
	}
}

// TestPendingReleaseIsRecovered leaves a real release in each state in which a
// killed process can leave it.
func TestPendingReleaseIsRecovered(t *testing.T) {
	for _, s := range []status.Status{
		status.StatusPendingInstall, status.StatusPendingUpgrade, status.StatusPendingRollback, status.StatusFailed, status.StatusUninstalling,
	} {
		t.Run(s.String(), func(t *testing.T) {
			l := newLab(t)
			l.kubelet(start)
			a := l.stocked("tea", "1.0.0")
			l.awaitReady(a)
			l.Close()
			l.alter("tea", s)
			l.Installer = l.installer()
			l.awaitReady(l.stocked("tea", "1.1.0"))
			l.wantReleases("tea", 2)
		})
	}
}

func (l *lab) stocked(name, version string) addon.Addon {
	l.stock(l.key(name), version, map[string]string{"templates/" + name + ".yaml": deploymentFile(name)})
	return l.chart(name, version)
}

// alter gives the last revision of a release another status.
func (l *lab) alter(name string, s status.Status) {
	l.Helper()
	config := l.helm()
	history, err := revisions(config, name)
	if err != nil || len(history) == 0 {
		l.Fatalf("%d revisions: %v", len(history), err)
	}
	last := history[len(history)-1]
	last.SetStatus(s, "killed")
	if err := config.Releases.Update(last); err != nil {
		l.Fatal(err)
	}
}

// helm is what another user would work with.
func (l *lab) helm() *action.Configuration {
	l.Helper()
	getter, err := newGetter(l.config, l.namespace)
	if err != nil {
		l.Fatal(err)
	}
	config := action.NewConfiguration()
	if err := config.Init(getter, l.namespace, "secrets"); err != nil {
		l.Fatal(err)
	}
	return config
}

// TestUninstalledReleaseComesBack has another user uninstall a release.
func TestUninstalledReleaseComesBack(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.stocked("tea", "1.0.0")
	l.awaitReady(a)
	uninstall := action.NewUninstall(l.helm())
	uninstall.WaitStrategy = helmkube.HookOnlyStrategy
	if _, err := uninstall.Run("tea"); err != nil {
		t.Fatal(err)
	}
	fetched := l.fetches()
	l.await("it is fetched again", []addon.Addon{a}, func([]State) bool { return l.fetches() > fetched })
	l.awaitReady(a)
	l.wantReleases("tea", 1)
}

// TestHelmEndsWithItsContext makes sure that nothing of an action continues after
// the caller has cancelled it.
func TestHelmEndsWithItsContext(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := connect(t.Context(), l.config, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	cancel()
	config, err := (&worker{}).helm(ctx, task{Addon: l.chart("tea", "1.0.0"), connection: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := config.KubeClient.IsReachable(); err == nil {
		t.Error("the cluster is still reached")
	}
}
