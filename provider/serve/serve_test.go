// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// served runs a provider over the platform until the test ends.
func served(t *testing.T, p *inmemory.Platform, o Options) client.Client {
	t.Helper()
	s, err := program.Scheme()
	must(t, err)
	m, err := manager.New(api, manager.Options{
		Scheme: s, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	must(t, err)
	must(t, Register(m, p.Provider(v1alpha1.ProviderHarvester), o))
	controllertest.Run(t, m)
	c, err := client.New(api, client.Options{Scheme: s})
	must(t, err)
	return c
}

// furnish creates a namespace with Secret, ProviderConfig and ClusterBootstrap.
func furnish(t *testing.T, id string) *v1alpha1.ProviderConfig {
	t.Helper()
	f := controllertest.New(t, api)
	f.Configure()
	f.Must(f.Create(t.Context(), f.Bootstrap("mgmt", id)))
	return f.Config(v1alpha1.ProviderHarvester)
}

func await(t *testing.T, check func() error) {
	t.Helper()
	must(t, controllertest.Await(check))
}

func TestOrphansAreReportedAndLeftAlone(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{OrphanEvery: 50 * time.Millisecond, OrphanGrace: time.Nanosecond})
	config := furnish(t, "left")
	p.CreateConflict(provider.MachineRef{Name: "lost", Owner: provider.Owner{ID: "lost", ClusterID: "left"}})
	await(t, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		if len(config.Status.Orphans) != 1 || !config.Status.Ready {
			return fmt.Errorf("status is %+v", config.Status)
		}
		return nil
	})
	lists := p.Calls(inmemory.List)
	await(t, func() error {
		if p.Calls(inmemory.List) < lists+3 {
			return fmt.Errorf("not looked at again")
		}
		return nil
	})
	if p.Calls(inmemory.Delete) != 0 {
		t.Error("an orphan was deleted without the flag")
	}
}

func TestOrphansAreDeletedWhereThatIsSaid(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{OrphanEvery: 50 * time.Millisecond, OrphanGrace: time.Nanosecond, DeleteOrphans: true})
	config := furnish(t, "swept")
	p.CreateConflict(provider.MachineRef{Name: "lost", Owner: provider.Owner{ID: "lost", ClusterID: "swept"}})
	p.CreateConflict(provider.MachineRef{Name: "strange", Owner: provider.Owner{ID: "strange", ClusterID: "other"}})
	await(t, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		if left := p.Machines(); len(left) != 1 || left[0].Ref.Name != "strange" || len(config.Status.Orphans) > 0 {
			return fmt.Errorf("left is %+v, the status says %+v", left, config.Status.Orphans)
		}
		return nil
	})
}

func TestEveryCallNamesTheProgram(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	served(t, p, Options{})
	furnish(t, "named")
	await(t, func() error {
		if p.Calls(inmemory.Connect) == 0 {
			return fmt.Errorf("not connected yet")
		}
		return nil
	})
	shape := regexp.MustCompile(`^butler-provider-harvester/\S+ \([0-9a-f]{8}\)$`)
	agents := slices.Collect(maps.Keys(p.Agents()))
	if len(agents) != 1 || !shape.MatchString(agents[0]) {
		t.Errorf("the agents are %q", agents)
	}
}

func TestFlagsOfAProvider(t *testing.T) {
	p := ProgramWith(inmemory.New(inmemory.Options{}).Provider(v1alpha1.ProviderHarvester), Options{})
	f := flag.NewFlagSet("x", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	p.Flags(f)
	if got := f.Lookup("delete-orphans"); got == nil || got.DefValue != "false" {
		t.Errorf("--delete-orphans is %+v", got)
	}
	if got := f.Lookup("orphan-grace"); got == nil || got.DefValue != DefaultOrphanGrace.String() {
		t.Errorf("--orphan-grace is %+v", got)
	}
	must(t, f.Parse([]string{"--orphan-grace=0s"}))
	if err := p.Register(nil); err == nil || !strings.Contains(err.Error(), "--orphan-grace") {
		t.Errorf("no grace at all: %v", err)
	}
}

// A provider that runs exports what docs/reference/metrics.md lists for it.
func TestPhasesAndCallsOfARunningProviderAreExported(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{})
	config := furnish(t, "measured")
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: "measured"}, Spec: v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: config.Name}, MachineName: "measured", Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 1024, DiskGB: 10,
	}}
	must(t, c.Create(t.Context(), r))
	awaitSeries(t,
		`butler_objects{kind="MachineRequest" phase="Running" provider="harvester"}`,
		`butler_platform_calls_total{operation="create_machine" outcome="ok" provider="harvester"}`,
		`butler_platform_call_duration_seconds{operation="connect" provider="harvester"}`,
	)
	must(t, c.Delete(t.Context(), r))
	awaitSeries(t, `butler_phase_duration_seconds{kind="MachineRequest" phase="Running" provider="harvester"}`)
}

func awaitSeries(t *testing.T, wanted ...string) {
	t.Helper()
	await(t, func() error {
		is := exported(t)
		for _, want := range wanted {
			if !slices.Contains(is, want) {
				return fmt.Errorf("%s is not exported", want)
			}
		}
		return nil
	})
}

// exported names the series of this project.
func exported(t *testing.T) (series []string) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	must(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			series = append(series, f.GetName()+"{"+strings.Join(labels, " ")+"}")
		}
	}
	return series
}
