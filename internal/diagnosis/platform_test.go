// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/diagnosis/diagnosistest"
	"github.com/butlerdotdev/butler/internal/diagnosis/gather"
	simaws "github.com/butlerdotdev/butler/internal/sim/aws"
	simazure "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	simgcp "github.com/butlerdotdev/butler/internal/sim/gcp"
	simharvester "github.com/butlerdotdev/butler/internal/sim/harvester"
	simnutanix "github.com/butlerdotdev/butler/internal/sim/nutanix"
	simproxmox "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/aws"
	"github.com/butlerdotdev/butler/provider/azure"
	"github.com/butlerdotdev/butler/provider/gcp"
	"github.com/butlerdotdev/butler/provider/harvester"
	"github.com/butlerdotdev/butler/provider/nutanix"
	"github.com/butlerdotdev/butler/provider/proxmox"
	"github.com/butlerdotdev/butler/provider/serve"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// platform is a driver and its simulator.
type platform struct {
	provider.Provider
	simulated facade.Platform
}

func platforms() []platform {
	return []platform{
		{harvester.Provider(), simharvester.Platform()}, {nutanix.Provider(), simnutanix.Platform()}, {proxmox.Provider(), simproxmox.Platform()},
		{aws.Provider(), simaws.Platform()}, {gcp.Provider(), simgcp.Platform()}, {azure.Provider(), simazure.Platform()},
	}
}

// TestEveryFaultHasARow: a new kind of fault needs a cause.
func TestEveryFaultHasARow(t *testing.T) {
	for _, k := range fault.Kinds() {
		if !slices.ContainsFunc(diagnosistest.Rows(), func(r diagnosistest.Row) bool { return r.Fault.Kind == k }) {
			t.Errorf("no row has the fault %s", k)
		}
	}
	for _, r := range diagnosistest.Rows() {
		data, err := json.Marshal(fault.Plan{Faults: []fault.Fault{r.On("", "m-0")}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fault.Parse(data); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
	}
}

// TestFaultsOfPlatformsAreFound brings each fault of a platform about, by its driver and the
// controllers of butleradm against the simulated platform, and demands the cause. Without
// BUTLER_TEST_FAULTS=all or -run a platform on premises and a cloud take the rows in turns.
func TestFaultsOfPlatformsAreFound(t *testing.T) {
	lanes := make(chan struct{}, abreast)
	all := os.Getenv("BUTLER_TEST_FAULTS") == "all" || flag.Lookup("test.run").Value.String() != ""
	sample := []v1alpha1.ProviderType{v1alpha1.ProviderNutanix, v1alpha1.ProviderGCP}
	for _, p := range platforms() {
		turn := slices.Index(sample, p.Type)
		if !all && turn < 0 {
			continue
		}
		t.Run(string(p.Type), func(t *testing.T) {
			t.Parallel()
			s := &site{platform: p, lanes: lanes, meets: func(row int) bool { return all || row%len(sample) == turn }}
			s.load(t)
			if p.Type == v1alpha1.ProviderHarvester { // whose simulator is an API server
				s.start(t)
			}
			s.meetAll(t)
		})
	}
}

// meetAll has the platform meet all faults. Those of a simulator that is cheap have one each,
// and most of their time is waited for.
func (s *site) meetAll(t *testing.T) {
	var rows sync.WaitGroup
	defer rows.Wait()
	for i, row := range diagnosistest.Rows() {
		switch {
		case !s.meets(i):
		case row.Stage != diagnosistest.Create && row.Stage != diagnosistest.Run && row.Stage != diagnosistest.Delete:
		case s.sim != nil:
			t.Run(row.Name(), func(t *testing.T) { s.meet(t, row) })
		default:
			own := *s
			rows.Go(func() {
				t.Run(row.Name(), func(t *testing.T) {
					s.lanes <- struct{}{}
					defer func() { <-s.lanes }()
					own.start(t)
					own.meet(t, row)
				})
			})
		}
	}
}

// site is a simulated platform.
type site struct {
	platform
	lanes  chan struct{} // for rows that take their turns
	meets  func(row int) bool
	sim    *simtest.Platform
	config v1alpha1.ProviderConfig
	boot   v1alpha1.ClusterBootstrap
}

// load reads the manifest of the fault matrix.
func (s *site) load(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "cli", "matrix", "testdata", string(s.Type)+".yaml"))
	must(t, err)
	for part := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var into any = &s.config
		if bytes.Contains(part, []byte("kind: ClusterBootstrap")) {
			into = &s.boot
		}
		must(t, yaml.UnmarshalStrict(part, into))
	}
}

func (s *site) start(t *testing.T) {
	t.Helper()
	s.sim = simtest.Run(t, s.simulated, s.simulated.Seed(&s.boot, &s.config))
}

// cluster is one that meets a fault: a namespace with the controllers of butleradm.
type cluster struct {
	*controllertest.Fixture
	site   *site
	boot   *v1alpha1.ClusterBootstrap
	secret *corev1.Secret
	ahead  atomic.Int64
	as     func(diagnosis.Facts) diagnosis.Facts // how facts are changed, if they are
}

func (s *site) meet(t *testing.T, row diagnosistest.Row) {
	c := &cluster{Fixture: controllertest.New(t, api), site: s}
	c.prepare(strings.ToLower(row.Name()))
	if row.Stage != diagnosistest.Create {
		c.run()
		c.await(c.runs)
	}
	machine := c.boot.Name + "-cp-0"
	boots := s.sim.Boots(machine)
	must(t, s.sim.Plan(t.Context(), row.On(s.Type, machine)))
	switch row.Stage {
	case diagnosistest.Create:
		c.run()
	case diagnosistest.Delete:
		c.Must(c.Delete(t.Context(), c.boot))
	default: // the plan alone makes the difference
	}
	c.ahead.Store(int64(row.Ahead))
	if cause := row.CauseOn(s.Type); cause == "" {
		c.await(func(f diagnosis.Facts) bool {
			again := row.Fault.Kind == fault.Drain || s.sim.Boots(machine) > boots // a drain may migrate it
			return s.sim.Happened() && again && c.runs(f)
		})
	} else {
		c.demand(row, cause)
	}
	must(t, s.sim.Plan(t.Context()))
}

// prepare creates the objects of a cluster with a name of its own.
func (c *cluster) prepare(name string) {
	c.Helper()
	config := c.site.config.DeepCopy()
	c.secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: config.Spec.CredentialsRef.Name}, Data: c.site.sim.Secret}
	config.Namespace = c.Namespace
	c.boot = c.site.boot.DeepCopy()
	c.boot.Namespace, c.boot.Name, c.boot.Spec.Cluster.Name, c.boot.Spec.ProviderRef.Namespace = c.Namespace, name, name, c.Namespace
	c.boot.Spec.Cluster.Topology, c.boot.Spec.Cluster.Workers = v1alpha1.TopologySingleNode, nil
	for _, o := range []client.Object{c.secret, config, c.boot} {
		c.Must(c.Create(c.Context(), o))
	}
}

// run starts the controllers, until the test ends.
func (c *cluster) run() {
	c.Helper()
	m := c.Manager()
	now := func() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }
	transport := provider.Transport{DialContext: c.site.sim.Network.Dial, RootCAs: c.site.sim.Roots}
	c.Must(serve.Register(m, c.site.Provider, serve.Options{Transport: transport, NoAmbient: true, Clock: now, OrphanEvery: time.Second}))
	addons, err := source.New(source.Options{HTTP: http.DefaultClient})
	c.Must(err)
	c.Must(clusterbootstrap.Register(m, clusterbootstrap.Options{Dial: c.site.sim.Network.Dial, Addons: addons}))
	controllertest.Run(c, m)
}

// facts are those of the plane: no node answers on these platforms.
func (c *cluster) facts() diagnosis.Facts {
	c.Helper()
	f, err := gather.OfPlane(c.Context(), c, c.boot, c.site.sim.Network.Dial)
	c.Must(err)
	f.Time = f.Time.Add(bootTime)
	if c.as != nil {
		return c.as(f)
	}
	return f
}

// joined are the facts as if the node had joined: no machine of these platforms has a guest.
func joined(f diagnosis.Facts) diagnosis.Facts {
	f.Nodes = nil
	for i, c := range f.Bootstrap.Conditions {
		if c.Type == v1alpha1.ConditionReady && c.Reason == "WaitingForTalos" {
			f.Bootstrap.Conditions[i].Status = metav1.ConditionTrue
		}
	}
	return f
}

// bootTime is longer than a machine may take to boot: those of these platforms have no
// guest that would answer.
const bootTime = 2 * time.Minute

// runs reports whether the machine does, without a complaint.
func (c *cluster) runs(f diagnosis.Facts) bool {
	return slices.ContainsFunc(f.Requests, func(o diagnosis.Object) bool { return o.Kind == "MachineRequest" }) &&
		!slices.ContainsFunc(f.Requests, func(o diagnosis.Object) bool {
			return o.Kind == "MachineRequest" && o.Ready().Status != metav1.ConditionTrue
		})
}

// demand waits for the cause.
func (c *cluster) demand(row diagnosistest.Row, cause diagnosis.Cause) {
	c.Helper()
	if row.Stage == diagnosistest.Run {
		c.as = joined
	}
	chain := c.await(func(f diagnosis.Facts) bool { return diagnosis.Explain(f).Cause == cause })
	if len(chain.Links) == 0 || chain.Summary == "" || len(chain.Remedies) == 0 || chain.Remedies[0].Do == "" {
		c.Errorf("the chain says too little: %+v", chain)
	}
	c.Logf("%s: %s", chain.Links[len(chain.Links)-1].Object, chain.Summary)
}

// await waits for facts. Every change of the Secret makes the controllers look again.
func (c *cluster) await(enough func(diagnosis.Facts) bool) diagnosis.Chain {
	c.Helper()
	deadline, tick := time.Now().Add(patience), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		f := c.facts()
		if enough(f) {
			return diagnosis.Explain(f)
		}
		if time.Now().After(deadline) {
			data, _ := json.MarshalIndent(f, "", " ")
			c.Fatalf("found %+v in\n%s", diagnosis.Explain(f), data)
		}
		if n%10 == 9 {
			c.secret.Annotations = map[string]string{"turn": fmt.Sprint(n)}
			c.Must(c.Update(c.Context(), c.secret))
		}
		<-tick.C
	}
}

// abreast is how many rows are met at the same time.
const abreast = 5

// patience is longer than the time-out of a call, which some faults last to.
const patience = 2 * time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
