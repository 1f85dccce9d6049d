// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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
)

// machineScript counts its boots on its disk and tells who it is.
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
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, dir string, s sim.Setup) *platform {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &platform{t: t, dir: dir, stop: stop, ended: make(chan error, 1)}
	ready := make(chan sim.Info, 1)
	o := sim.Options{
		Dir: dir, Provider: v1alpha1.ProviderHarvester, Executable: planetest.Executable(t), Setup: s, Log: slog.New(slog.DiscardHandler),
	}
	go func() { p.ended <- sim.Run(ctx, o, func(i sim.Info) { ready <- i }) }()
	select {
	case i := <-ready:
		p.connect(i.Kubeconfig)
	case err := <-p.ended:
		t.Fatal(err)
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
	if err := <-p.ended; err != nil {
		p.t.Fatal(err)
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
- {kind: machineDies, machine: mortal, after: 1s}
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
	for _, name := range []string{"stillborn", "mortal", "late", "mute", "usual"} {
		p.create(name)
	}
	p.await("late", false)
	usual := p.await("usual", true)
	p.shown("boot 1 of usual at " + usual + "/24 by 10.77.0.254")
	p.await("late", true)
	p.await("mute", false)
	// It dies once, and is on again with its disk.
	p.shown("boot 2 of mortal at " + p.await("mortal", true) + "/24 by 10.77.0.254")
	// Its first start never reaches the command.
	p.shown("boot 1 of stillborn at " + p.await("stillborn", true) + "/24 by 10.77.0.254")
	p.end()

	again := start(t, dir, setup)
	again.shown("boot 2 of usual at " + usual + "/24 by 10.77.0.254")
	again.end()
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	for name, s := range map[string]sim.Setup{
		"unknown profile":         {Profile: "tomorrow"},
		"subnet that is not one":  {Seed: sim.Seed{Subnet: "nonsense"}},
		"loopback for a command":  {BootCommand: "true", Seed: sim.Seed{Subnet: "127.0.0.0/24"}},
		"the world for a command": {BootCommand: "true", Seed: sim.Seed{Subnet: "0.0.0.0/0"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := sim.Options{Dir: t.TempDir(), Provider: v1alpha1.ProviderHarvester, Setup: s, Log: slog.New(slog.DiscardHandler)}
			if err := sim.Run(t.Context(), o, func(sim.Info) {}); err == nil {
				t.Error("it ran")
			}
		})
	}
}
