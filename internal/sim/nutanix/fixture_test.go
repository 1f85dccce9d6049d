// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
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
	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

type object = map[string]any

// What the manifest of the tests names.
const (
	host        = "prism.example.com:9440"
	clusterID   = "00061663-9fa0-28ca-185b-ac1f6b6f97e2"
	subnetID    = "c7938dc6-7659-453e-a688-e26020c68e43"
	imageID     = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
	containerID = "5b9a7b8c-1f4e-4a53-9f5a-0f3a0c0c7a11"
)

// fixture is a simulated Prism Central whose machines do nothing.
type fixture struct {
	dir       string
	network   *network.Network
	faults    *fault.Injector
	auditor   *audit.Auditor
	authority *front.Authority
	center    *datacenter.Datacenter
	api       facade.API
	http      *http.Client
	user, key string
	password  string

	mu    sync.Mutex
	boots []datacenter.Machine
	ends  map[string]chan error // machines whose guest can be ended, by name
}

func seed() nutanix.Seed {
	return nutanix.Seed{Cluster: clusterID, Subnet: subnetID, Image: imageID, Container: containerID, CIDR: "192.0.2.0/24", Hosts: []string{host}}
}

func start(t *testing.T, change ...func(*nutanix.Seed)) *fixture {
	t.Helper()
	return startIn(t, t.TempDir(), change...)
}

func startIn(t *testing.T, dir string, change ...func(*nutanix.Seed)) *fixture {
	t.Helper()
	f := &fixture{dir: dir, network: network.New(), faults: fault.NewInjector(fault.Plan{})}
	var err error
	f.auditor, err = audit.Open(audit.Options{Dir: dir, Desired: []audit.Desired{{Cluster: "audited", Machines: 2}}})
	must(t, err)
	f.authority, err = front.OpenAuthority(filepath.Join(dir, "authority"))
	must(t, err)
	f.center, err = datacenter.New(datacenter.Options{
		Dir: filepath.Join(dir, "datacenter"), Network: f.network, Faults: f.faults, Boot: f.boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("192.0.2.0/24")}},
	})
	must(t, err)
	t.Cleanup(f.center.Close)
	s := seed()
	for _, one := range change {
		one(&s)
	}
	raw, err := json.Marshal(s)
	must(t, err)
	f.api, err = nutanix.Platform().Start(t.Context(), facade.Options{
		Dir: filepath.Join(dir, "platform"), Datacenter: f.center, Authority: f.authority, Network: f.network, Seed: raw, Faults: f.faults, Auditor: f.auditor,
	})
	must(t, err)
	t.Cleanup(func() { _ = f.api.Stop() })
	f.user, f.password = read(t, f.api.Credentials()[v1alpha1.KeyUsername]), read(t, f.api.Credentials()[v1alpha1.KeyPassword])
	f.key = read(t, filepath.Join(dir, "platform", "apiKey"))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.authority.Certificate())
	f.http = &http.Client{Transport: &http.Transport{DialContext: f.network.Dial, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	return f
}

// stop ends the platform and its machines, so that another one can continue.
func (f *fixture) stop(t *testing.T) {
	t.Helper()
	must(t, f.api.Stop())
	f.center.Close()
}

func (f *fixture) boot(ctx context.Context, m datacenter.Machine) error {
	f.mu.Lock()
	f.boots = append(f.boots, m)
	end := f.ends[m.Name]
	f.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil
	case err := <-end:
		return err
	}
}

// booted returns the last start of a machine.
func (f *fixture) booted(t *testing.T, name string) datacenter.Machine {
	t.Helper()
	var found datacenter.Machine
	eventually(t, "machine "+name+" boots", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range f.boots {
			if m.Name == name {
				found = m
			}
		}
		return found.ID != ""
	})
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	return string(raw)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for tick := time.Tick(5 * time.Millisecond); !holds(); <-tick {
		if time.Now().After(deadline) {
			t.Fatalf("it does not happen that %s", what)
		}
	}
}

// answer is what the API has answered.
type answer struct {
	status int
	header http.Header
	text   string
	body   object
}

// request sends a request with these headers. A body that is a string is sent as it is.
func (f *fixture) request(t *testing.T, method, path string, body any, header map[string]string) answer {
	t.Helper()
	raw, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		must(t, err)
		raw = string(encoded)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+host+"/api/nutanix/v3/"+path, bytes.NewReader([]byte(raw)))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	for key, value := range header {
		r.Header.Set(key, value)
	}
	response, err := f.http.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	out := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	_ = json.Unmarshal(text, &out.body) // some answers are no JSON
	return out
}

// call sends a request of the user.
func (f *fixture) call(t *testing.T, method, path string, body any) answer {
	t.Helper()
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(f.user, f.password)
	return f.request(t, method, path, body, map[string]string{"Authorization": r.Header.Get("Authorization")})
}

// do sends a request that is accepted, and returns the answer.
func (f *fixture) do(t *testing.T, method, path string, body any) object {
	t.Helper()
	a := f.call(t, method, path, body)
	if a.status >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, path, a.status, a.text)
	}
	return a.body
}

// reason is a refusal in short: status, reason, message and details.
func (a answer) reason() string {
	list, _ := a.body["message_list"].([]any)
	if len(list) == 0 || a.body["state"] != "ERROR" {
		return fmt.Sprint(a.status, " ", a.text)
	}
	one, _ := list[0].(object)
	details, _ := json.Marshal(one["details"])
	return fmt.Sprintf("%d %v: %v %s", a.status, one["reason"], one["message"], details)
}

// at returns a value in an object by its path, such as status.state.
func at(o any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch v := o.(type) {
		case object:
			o = v[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(v) {
				return nil
			}
			o = v[i]
		default:
			return nil
		}
	}
	return o
}

func text(o any, path string) string { return fmt.Sprint(at(o, path)) }

// wait returns the task of an answer when it has ended.
func (f *fixture) wait(t *testing.T, accepted object) (task object) {
	t.Helper()
	id := text(accepted, "status.execution_context.task_uuid")
	eventually(t, "task "+id+" ends", func() bool {
		task = f.do(t, http.MethodGet, "tasks/"+id, nil)
		return task["status"] == "SUCCEEDED" || task["status"] == "FAILED"
	})
	return task
}

// machine is a VM as a client asks for it.
func machine(name string) object {
	return object{
		"api_version": "3.1", "metadata": object{"kind": "vm"},
		"spec": object{
			"name": name, "cluster_reference": object{"kind": "cluster", "uuid": clusterID},
			"resources": object{
				"num_sockets": 2, "num_vcpus_per_socket": 2, "memory_size_mib": 4096, "power_state": "ON", "boot_config": object{"boot_type": "UEFI"},
				"disk_list": []any{object{"data_source_reference": object{"kind": "image", "uuid": imageID}, "disk_size_mib": 20480}},
				"nic_list":  []any{object{"subnet_reference": object{"kind": "subnet", "uuid": subnetID}}},
			},
		},
	}
}

// with returns a copy of an object with another value at a path.
func with(o object, path string, value any) object {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	out := object{}
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	parts := strings.Split(path, ".")
	inner := any(out)
	if len(parts) > 1 {
		inner = at(out, strings.Join(parts[:len(parts)-1], "."))
	}
	inner.(object)[parts[len(parts)-1]] = value
	return out
}

// create creates a VM and returns it when its task has succeeded.
func (f *fixture) create(t *testing.T, vm object) object {
	t.Helper()
	accepted := f.do(t, http.MethodPost, "vms", vm)
	if task := f.wait(t, accepted); task["status"] != "SUCCEEDED" {
		t.Fatalf("the task failed: %v", task)
	}
	return f.do(t, http.MethodGet, "vms/"+text(accepted, "metadata.uuid"), nil)
}

// names returns the names of all VMs that are listed.
func (f *fixture) names(t *testing.T) (out []string) {
	t.Helper()
	list := f.do(t, http.MethodPost, "vms/list", object{"kind": "vm", "sort_attribute": "name"})
	for _, e := range list["entities"].([]any) {
		out = append(out, text(e, "status.name"))
	}
	return out
}
