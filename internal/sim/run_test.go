// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// machineScript counts its boots on its disk and prints its name.
const machineScript = `#!/bin/sh
echo boot >>"$MACHINE_STATE_DIR/boots"
echo "boot $(wc -l <"$MACHINE_STATE_DIR/boots" | tr -d ' ') of $MACHINE_NAME at $MACHINE_ADDRESS by $MACHINE_GATEWAY"
exec sleep 1000
`

// platform is a simulator that runs in this process.
type platform struct {
	client.Client
	t     *testing.T
	dir   string
	info  sim.Info
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, dir string, s sim.Setup) *platform {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &platform{t: t, dir: dir, stop: stop, ended: make(chan error, 1)}
	ready := make(chan sim.Info, 1)
	o := sim.Options{
		Dir: dir, Platform: harvester.Platform(), Executable: planetest.Executable(t), Setup: s, Log: slog.New(slog.DiscardHandler),
	}
	go func() { p.ended <- sim.Run(ctx, o, func(i sim.Info) { ready <- i }) }()
	select {
	case p.info = <-ready:
		p.connect(p.info.Credentials[v1alpha1.KeyKubeconfig])
	case err := <-p.ended:
		t.Fatal(err)
	case <-time.After(2 * time.Minute):
		t.Fatal("the platform does not start")
	}
	return p
}

func (p *platform) connect(kubeconfig string) {
	p.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.Client, err = client.New(config, client.Options{}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *platform) end() {
	p.t.Helper()
	p.stop()
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Fatal(err)
		}
	case <-time.After(2 * time.Minute):
		p.t.Fatal("the platform does not end")
	}
}

// create makes a machine from a container disk: it needs no claim.
func (p *platform) create(name string) {
	p.t.Helper()
	vm := &unstructured.Unstructured{}
	if err := vm.UnmarshalJSON(fmt.Appendf(nil, `{
		"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"namespace": "default", "name": %q},
		"spec": {"runStrategy": "Always", "template": {"spec": {
			"domain": {"memory": {"guest": "1Gi"}, "devices": {"disks": [{"name": "root"}]}},
			"volumes": [{"name": "root", "containerDisk": {"image": "example.com/system"}}]
		}}}
	}`, name)); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Create(p.t.Context(), vm); err != nil {
		p.t.Fatal(err)
	}
}

// await asks until a machine runs, with an address or without, and returns it.
func (p *platform) await(name string, withAddress bool) (address string) {
	p.t.Helper()
	eventually(p.t, name, func() error {
		vmi := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance"}}
		if err := p.Get(p.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, vmi); err != nil {
			return err
		}
		phase, _, err := unstructured.NestedString(vmi.Object, "status", "phase")
		nics, _, err2 := unstructured.NestedSlice(vmi.Object, "status", "interfaces")
		address = ""
		if len(nics) > 0 {
			address, _ = nics[0].(map[string]any)["ipAddress"].(string)
		}
		if phase != "Running" || withAddress != (address != "") {
			return errors.Join(err, err2, fmt.Errorf("phase %q, address %q", phase, address))
		}
		return nil
	})
	return address
}

// shown waits until the console of some machine shows a line.
func (p *platform) shown(line string) {
	p.t.Helper()
	eventually(p.t, line, func() error {
		consoles, err := filepath.Glob(filepath.Join(p.dir, "datacenter", "machines", "*", "console.log"))
		for _, console := range consoles {
			data, readErr := os.ReadFile(console)
			if strings.Contains(string(data), line+"\n") {
				return nil
			}
			err = errors.Join(err, readErr)
		}
		return errors.Join(err, fmt.Errorf("not on %d consoles", len(consoles)))
	})
}

func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestMachinesAreCommandsAndGoWrongAsPlanned(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	script := filepath.Join(t.TempDir(), "boot")
	if err := os.WriteFile(script, []byte(machineScript), 0o700); err != nil {
		t.Fatal(err)
	}
	plan, err := fault.Parse([]byte(`
faults:
- {kind: failedTask, verb: create, machine: stillborn, times: 1}
- {kind: machineDies, machine: dying, after: 1s}
- {kind: noAddress, machine: late, for: 3s}
- {kind: noAddress, machine: mute}
`))
	if err != nil {
		t.Fatal(err)
	}
	setup := sim.Setup{
		BootCommand: script, Faults: plan, Profile: "instant",
		Seed: sim.Seed{Subnet: "10.77.0.0/24", Gateway: "10.77.0.254", Reserved: []v1alpha1.AddressRange{{Start: "10.78.0.1", End: "10.78.0.1"}}},
	}
	dir := t.TempDir()
	p := start(t, dir, setup)
	for _, name := range []string{"stillborn", "dying", "late", "mute", "usual"} {
		p.create(name)
	}
	p.await("late", false)
	usual := p.await("usual", true)
	p.shown("boot 1 of usual at " + usual + "/24 by 10.77.0.254")
	p.await("late", true)
	p.await("mute", false)
	// It dies once, and is on again with its disk.
	p.shown("boot 2 of dying at " + p.await("dying", true) + "/24 by 10.77.0.254")
	// Its first start never reaches the command.
	p.shown("boot 1 of stillborn at " + p.await("stillborn", true) + "/24 by 10.77.0.254")
	p.end()

	again := start(t, dir, setup)
	again.shown("boot 2 of usual at " + usual + "/24 by 10.77.0.254")
	again.end()
}

// index fetches the list of a chart repository over the simulated network.
func (p *platform) index(url string) string {
	p.t.Helper()
	authority, err := os.ReadFile(p.info.CA)
	if err != nil {
		p.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{DialContext: network.Dialer(p.info.Proxy), TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(url + "/index.yaml")
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s, %v", url, response.Status, err)
	}
	return string(body)
}

// TestStandInsChangeAndTheSimulatorStays: a restart with other charts keeps the
// machines and the authority that clients trust.
func TestStandInsChangeAndTheSimulatorStays(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	script := filepath.Join(t.TempDir(), "boot")
	if err := os.WriteFile(script, []byte(machineScript), 0o700); err != nil {
		t.Fatal(err)
	}
	setup := func(version string) sim.Setup {
		return sim.Setup{BootCommand: script, Seed: sim.Seed{Subnet: "10.77.0.0/24", Artifacts: []registry.Artifact{
			{Addon: "cert-manager", Kind: registry.Chart, URL: "https://charts.jetstack.io", Name: "cert-manager", Version: version},
		}}}
	}
	dir := t.TempDir()
	p := start(t, dir, setup("v1.16.2"))
	p.create("usual")
	p.await("usual", true)
	if index := p.index("https://charts.jetstack.io"); !strings.Contains(index, "v1.16.2") {
		t.Errorf("index\n%s", index)
	}
	authority, err := os.ReadFile(p.info.CA)
	if err != nil {
		t.Fatal(err)
	}
	p.end()

	again := start(t, dir, setup("v1.16.3"))
	again.await("usual", true)
	if index := again.index("https://charts.jetstack.io"); !strings.Contains(index, "v1.16.3") || strings.Contains(index, "v1.16.2") {
		t.Errorf("index\n%s", index)
	}
	if now, err := os.ReadFile(again.info.CA); err != nil || string(now) != string(authority) {
		t.Errorf("another authority: %v", err)
	}
	again.end()

	bare := start(t, dir, sim.Setup{BootCommand: script, Seed: sim.Seed{Subnet: "10.77.0.0/24"}})
	if _, err := network.Dialer(bare.info.Proxy)(t.Context(), "tcp", "charts.jetstack.io:443"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("without charts: dial %v", err)
	}
	bare.end()
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	for name, s := range map[string]sim.Setup{
		"unknown profile":             {Profile: "tomorrow"},
		"subnet that is not one":      {Seed: sim.Seed{Subnet: "nonsense"}},
		"charts without stand-ins":    {Seed: sim.Seed{Artifacts: []registry.Artifact{{Addon: "x", Kind: registry.Chart, URL: "https://x.example.com", Name: "x", Version: "1"}}}},
		"loopback for a command":      {BootCommand: "true", Seed: sim.Seed{Subnet: "127.0.0.0/24"}},
		"all addresses for a command": {BootCommand: "true", Seed: sim.Seed{Subnet: "0.0.0.0/0"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := sim.Options{Dir: t.TempDir(), Platform: harvester.Platform(), Setup: s, Log: slog.New(slog.DiscardHandler)}
			if err := sim.Run(t.Context(), o, func(sim.Info) {}); err == nil {
				t.Error("it ran")
			}
		})
	}
}
