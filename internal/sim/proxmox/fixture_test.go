// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

// fixture is a simulated cluster whose machines run nothing.
type fixture struct {
	dir       string
	network   *network.Network
	faults    *fault.Injector
	auditor   *audit.Auditor
	authority *front.Authority
	api       facade.API
	hosts     *datacenter.Datacenter
	token     string
	http      *http.Client
	admin     *proxmox.Client

	mu       sync.Mutex
	machines []datacenter.Machine // that were powered on
}

func start(t *testing.T, seed proxmox.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed proxmox.Seed) *fixture {
	t.Helper()
	f := &fixture{dir: dir, network: network.New(), faults: fault.NewInjector(fault.Plan{})}
	var err error
	f.auditor, err = audit.Open(audit.Options{Dir: dir})
	must(t, err)
	f.authority, err = front.OpenAuthority(filepath.Join(dir, "authority"))
	must(t, err)
	d, err := datacenter.New(datacenter.Options{
		Dir: filepath.Join(dir, "datacenter"), Network: f.network, Faults: f.faults, Boot: f.boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("192.0.2.0/24")}},
	})
	must(t, err)
	t.Cleanup(d.Close)
	f.hosts = d
	raw, err := json.Marshal(seed)
	must(t, err)
	f.api, err = proxmox.Platform().Start(t.Context(), facade.Options{
		Dir: filepath.Join(dir, "platform"), Datacenter: d, Authority: f.authority, Network: f.network, Seed: raw, Faults: f.faults, Auditor: f.auditor,
	})
	must(t, err)
	t.Cleanup(func() { _ = f.api.Stop() })
	f.token = "PVEAPIToken=" + f.credential(t, v1alpha1.KeyToken) + "=" + f.credential(t, v1alpha1.KeyTokenSecret)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.authority.Certificate())
	f.http = &http.Client{Transport: &http.Transport{DialContext: f.network.Dial, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	f.admin, err = proxmox.Open(f.api.Admin())
	must(t, err)
	t.Cleanup(f.admin.Close)
	return f
}

// stop ends the platform and its machines.
func (f *fixture) stop(t *testing.T) {
	t.Helper()
	must(t, f.api.Stop())
	f.hosts.Close()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) credential(t *testing.T, key string) string {
	t.Helper()
	raw, err := os.ReadFile(f.api.Credentials()[key])
	must(t, err)
	return string(raw)
}

func (f *fixture) boot(ctx context.Context, m datacenter.Machine) error {
	f.mu.Lock()
	f.machines = append(f.machines, m)
	f.mu.Unlock()
	<-ctx.Done()
	return nil
}

func (f *fixture) plan(faults ...fault.Fault) { f.faults.Replace(fault.Plan{Faults: faults}) }

// answer is what the API has answered.
type answer struct {
	code   int
	reason string
	header http.Header
	Data   any
	Errors map[string]string
}

// send sends a request to the API as a user.
func (f *fixture) send(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := f.http.Do(r)
	must(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	must(t, err)
	_, reason, _ := strings.Cut(response.Status, " ")
	a := answer{code: response.StatusCode, reason: reason, header: response.Header}
	if len(raw) > 0 {
		must(t, json.Unmarshal(raw, &a))
	}
	return a
}

func (f *fixture) request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://proxmox.example.com:8006/api2/json"+path, bytes.NewReader([]byte(body)))
	must(t, err)
	r.Header.Set("Authorization", f.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// call calls the API with the token of the guide's role. Parameters are name=value.
func (f *fixture) call(t *testing.T, method, path string, params ...string) answer {
	t.Helper()
	form := url.Values{}
	for _, one := range params {
		name, value, _ := strings.Cut(one, "=")
		form.Set(name, value)
	}
	if method == http.MethodPost || method == http.MethodPut {
		return f.send(t, f.request(t, method, path, form.Encode()))
	}
	return f.send(t, f.request(t, method, path+"?"+form.Encode(), ""))
}

// do calls the API for a task and returns the status that the task ends with, or the
// refusal of the call.
func (f *fixture) do(t *testing.T, method, path string, params ...string) string {
	t.Helper()
	a := f.call(t, method, path, params...)
	if a.code != http.StatusOK {
		return a.reason
	}
	upid, isTask := a.Data.(string)
	if !isTask {
		return "OK"
	}
	return f.await(t, upid)
}

// await waits for a task to end and returns its status.
func (f *fixture) await(t *testing.T, upid string) string {
	t.Helper()
	node := strings.Split(upid, ":")[1]
	for {
		a := f.call(t, http.MethodGet, "/nodes/"+node+"/tasks/"+upid+"/status")
		task, _ := a.Data.(map[string]any)
		if task["status"] == "stopped" {
			return task["exitstatus"].(string)
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the task has not ended")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// object is the data of an answer that has fields.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	if a.code != http.StatusOK {
		t.Fatalf("%d %s %v", a.code, a.reason, a.Errors)
	}
	o, is := a.Data.(map[string]any)
	if !is {
		t.Fatalf("the answer is %v", a.Data)
	}
	return o
}

// list is the data of an answer that has entries.
func (a answer) list(t *testing.T) (out []map[string]any) {
	t.Helper()
	all, is := a.Data.([]any)
	if a.code != http.StatusOK || !is {
		t.Fatalf("%d %s %v", a.code, a.reason, a.Data)
	}
	for _, one := range all {
		out = append(out, one.(map[string]any))
	}
	return out
}

// ok fails the test unless a task or a call has succeeded.
func ok(t *testing.T, status string) {
	t.Helper()
	if status != "OK" {
		t.Fatalf("it ended with %q", status)
	}
}

const (
	template = "/nodes/pve1/qemu/9000"
	vm       = "/nodes/pve1/qemu/101"
)

// cloned clones the template to VM 101.
func (f *fixture) cloned(t *testing.T) {
	t.Helper()
	ok(t, f.do(t, "POST", template+"/clone", "newid=101", "name=mgmt-cp-0", "full=1", "storage=local-lvm"))
}
