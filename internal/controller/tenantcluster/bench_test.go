// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/procstat"
)

// BenchmarkTenants measures what butler-controller, as a process of its own, costs for each
// tenant cluster with three workers: until it is Ready, while nothing happens, and until it is
// gone. The costs of one must not grow with their number.
func BenchmarkTenants(b *testing.B) {
	for _, n := range []int{20, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				newTrial(b).run(n)
			}
		})
	}
}

// trial is a management cluster with the program and many tenants.
type trial struct {
	*fixture
	b       *testing.B
	crowd   *crowd
	cluster *calls
	program *process
}

func newTrial(b *testing.B) *trial {
	b.Helper()
	f := prepare(b)
	t := &trial{fixture: f, b: b, crowd: playMany(f), cluster: &calls{}}
	t.program = t.startProgram()
	return t
}

func (t *trial) run(n int) {
	before := t.program.usage(t)
	t.b.StartTimer()
	began := time.Now()
	for i := range n {
		tc := t.tenant()
		tc.Name = fmt.Sprintf("%s-%03d", t.Namespace, i)
		tc.Spec.Workers.Replicas = 3
		t.Must(t.Create(t.Context(), tc))
	}
	t.await(n, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.Phase == v1alpha1.TenantReady })
	t.b.StopTimer()
	t.b.ReportMetric(float64(n)/time.Since(began).Seconds(), "tenants/s")
	t.report("to Ready, per tenant", "/tenant", n, before)
	t.rest()
	t.delete(n)
	t.b.StartTimer()
}

// rest measures what tenants cost with which nothing happens.
func (t *trial) rest() {
	const window = time.Minute
	time.Sleep(10 * time.Second) // until the last of what has changed is looked at
	t.forget()
	before := t.program.usage(t)
	time.Sleep(window)
	t.report("at rest, per second", "-at-rest/s", int(window.Seconds()), before)
	now := t.program.usage(t)
	t.b.ReportMetric(100*(now.cpu-before.cpu).Seconds()/window.Seconds(), "%core-at-rest")
	t.b.ReportMetric(now.resident, "MiB")
}

func (t *trial) delete(n int) {
	t.forget()
	before := t.program.usage(t)
	var all v1alpha1.TenantClusterList
	t.Must(t.List(t.Context(), &all, client.InNamespace(v1alpha1.DefaultTenantsNamespace)))
	for i := range all.Items {
		t.Must(t.Delete(t.Context(), &all.Items[i]))
	}
	t.await(0, func(*v1alpha1.TenantCluster) bool { return true })
	t.report("to be gone, per tenant", "/deletion", n, before)
}

// await waits until there are n tenants, all as wanted.
func (t *trial) await(n int, is func(*v1alpha1.TenantCluster) bool) {
	t.Helper()
	var last *v1alpha1.TenantCluster
	for deadline := time.Now().Add(30 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		var all v1alpha1.TenantClusterList
		t.Must(t.List(t.Context(), &all, client.InNamespace(v1alpha1.DefaultTenantsNamespace)))
		fit := 0
		for i := range all.Items {
			if is(&all.Items[i]) {
				fit++
			} else {
				last = &all.Items[i]
			}
		}
		if fit == n && len(all.Items) == n {
			return
		}
		if n == 0 && len(all.Items) > 0 {
			last = &all.Items[0]
		}
	}
	t.Fatalf("not all of %d tenants: %s %v\n%s", n, last.Status.Phase, conditionsOf(last), t.program.out)
}

func (t *trial) forget() {
	t.cluster.reset()
	t.asked.reset()
	t.crowd.servers.calls.reset()
}

// report reports what was counted, divided by n.
func (t *trial) report(what, unit string, n int, before usage) {
	now := t.program.usage(t)
	cluster, tenants, platform := t.cluster.reset(), t.crowd.servers.calls.reset(), t.asked.reset()
	t.b.Logf("%s:\n management cluster\n%s tenant\n%s platform\n%s", what, table(cluster, n), table(tenants, n), table(platform, n))
	each := func(total float64, name string) { t.b.ReportMetric(total/float64(n), name+unit) }
	each(now.passes-before.passes, "passes")
	each(float64(sum(cluster)), "calls")
	each(float64(sum(tenants)), "tenant-calls")
	each(float64(sum(platform)), "platform-calls")
	each(float64((now.cpu - before.cpu).Milliseconds()), "ms-cpu")
}

// process is butler-controller.
type process struct {
	*exec.Cmd
	out     *planetest.Output
	metrics string
}

// startProgram runs the program until the test ends, with the rights of its chart.
func (t *trial) startProgram() *process {
	t.Helper()
	binary, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/butler-controller")
	t.Must(err)
	account := rest.CopyConfig(api)
	account.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:butler-system:butler-controller", Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	p := &process{out: &planetest.Output{}, metrics: freeAddress(t)}
	p.Cmd = exec.Command(binary, "--kubeconfig", t.cluster.before(t.fixture, account), "--charts", t.charts, "--metrics-bind-address", p.metrics)
	p.Stdout, p.Stderr, p.Dir = p.out, p.out, t.TempDir()
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "GO") { // its memory is that of the defaults
			p.Env = append(p.Env, one)
		}
	}
	t.Must(p.Start())
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			t.Errorf("the program ended with %v:\n%s", err, p.out)
		}
	})
	t.Await(func() error { _, err := p.passes(t.Context()); return err })
	return p
}

func freeAddress(t *trial) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	t.Must(err)
	defer l.Close()
	return l.Addr().String()
}

// usage is what a process has used so far.
type usage struct {
	cpu      time.Duration
	resident float64 // MiB
	passes   float64
}

// usage reads the records of Linux.
func (p *process) usage(t *trial) (u usage) {
	t.Helper()
	var err error
	u.passes, err = p.passes(t.Context())
	t.Must(err)
	s, err := procstat.Of(p.Process.Pid)
	t.Must(err)
	u.cpu, u.resident = s.CPU, s.Resident
	return u
}

// passes is how often TenantClusters were reconciled.
func (p *process) passes(ctx context.Context) (n float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "} "); ok && strings.HasPrefix(name, `controller_runtime_reconcile_total{controller="tenantcluster"`) {
			one, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			n += one
		}
	}
	return n, nil
}
