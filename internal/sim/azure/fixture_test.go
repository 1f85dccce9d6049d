// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	subscription = "00000000-0000-0000-0000-000000000000"
	resources    = "/subscriptions/" + subscription + "/resourceGroups/example/providers/"
	subnetID     = resources + "Microsoft.Network/virtualNetworks/butler/subnets/nodes"
	imageID      = resources + "Microsoft.Compute/images/talos"
	servedPort   = 6443
	publicKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
)

// fixture is a simulated subscription whose machines open one port.
type fixture struct {
	dir       string
	network   *network.Network
	faults    *fault.Injector
	auditor   *audit.Auditor
	authority *front.Authority
	api       facade.API
	boots     atomic.Int32
	userData  atomic.Value // of the last machine
	options   *arm.ClientOptions

	compute *armcompute.ClientFactory
	net     *armnetwork.ClientFactory
}

func everything() json.RawMessage { return json.RawMessage(`{"Name":"Contributor","Actions":["*"]}`) }

func start(t *testing.T, seed azure.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed azure.Seed) *fixture {
	t.Helper()
	f := &fixture{dir: dir, network: network.New(), faults: fault.NewInjector(fault.Plan{})}
	var err error
	f.auditor, err = audit.Open(audit.Options{Dir: dir, Desired: []audit.Desired{{Cluster: "audited", Machines: 2}}})
	must(t, err)
	f.authority, err = front.OpenAuthority(filepath.Join(dir, "authority"))
	must(t, err)
	d, err := datacenter.New(datacenter.Options{Dir: filepath.Join(dir, "datacenter"), Network: f.network, Faults: f.faults, Boot: f.boot})
	must(t, err)
	t.Cleanup(d.Close)
	if seed.Role == nil { // what the documented role allows is the driver's concern
		seed.Role = everything()
	}
	if seed.Images == nil {
		seed.Images = []azure.Image{{Name: "talos"}}
	}
	raw, err := json.Marshal(seed)
	must(t, err)
	f.api, err = azure.Platform().Start(t.Context(), facade.Options{
		Dir: filepath.Join(dir, "platform"), Datacenter: d, Authority: f.authority, Network: f.network, Seed: raw, Faults: f.faults, Auditor: f.auditor,
	})
	must(t, err)
	t.Cleanup(func() { _ = f.api.Stop() })
	f.connect(t)
	return f
}

func (f *fixture) boot(ctx context.Context, m datacenter.Machine) error {
	f.boots.Add(1)
	f.userData.Store(string(m.UserData))
	l, err := m.Host.Listen(servedPort)
	if err != nil {
		return err
	}
	defer l.Close()
	<-ctx.Done()
	return nil
}

func (f *fixture) client() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.authority.Certificate())
	return &http.Client{Transport: &http.Transport{DialContext: f.network.Dial, TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

func (f *fixture) secret(t *testing.T, key string) string {
	t.Helper()
	raw, err := os.ReadFile(f.api.Credentials()[key])
	must(t, err)
	return string(raw)
}

// clientOptions are those of an SDK whose calls go to the simulator, and are not repeated.
func (f *fixture) clientOptions() azcore.ClientOptions {
	return azcore.ClientOptions{Transport: f.client(), Retry: policy.RetryOptions{MaxRetries: -1}}
}

func (f *fixture) connect(t *testing.T) {
	t.Helper()
	o := f.clientOptions()
	c, err := azidentity.NewClientSecretCredential(f.secret(t, v1alpha1.KeyTenantID), f.secret(t, v1alpha1.KeyClientID), f.secret(t, v1alpha1.KeyClientSecret),
		&azidentity.ClientSecretCredentialOptions{ClientOptions: o})
	must(t, err)
	f.options = &arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true}
	f.use(t, c)
}

// use has the clients call with a credential.
func (f *fixture) use(t *testing.T, c azcore.TokenCredential) {
	t.Helper()
	var err error
	f.compute, err = armcompute.NewClientFactory(subscription, c, f.options)
	must(t, err)
	f.net, err = armnetwork.NewClientFactory(subscription, c, f.options)
	must(t, err)
}

// token is one of the user.
func (f *fixture) token(t *testing.T) string {
	t.Helper()
	c, err := azidentity.NewClientSecretCredential(f.secret(t, v1alpha1.KeyTenantID), f.secret(t, v1alpha1.KeyClientID), f.secret(t, v1alpha1.KeyClientSecret),
		&azidentity.ClientSecretCredentialOptions{ClientOptions: f.clientOptions()})
	must(t, err)
	got, err := c.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://management.azure.com/.default"}})
	must(t, err)
	return got.Token
}

// call sends a request as it is, and returns its status and its body.
func (f *fixture) call(t *testing.T, method, path, token, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://management.azure.com"+path, bytes.NewReader([]byte(body)))
	must(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := f.client().Do(r)
	must(t, err)
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	must(t, err)
	return got.StatusCode, string(raw)
}

// nic is an interface that can be created.
func nic(changes ...func(*armnetwork.Interface)) armnetwork.Interface {
	n := armnetwork.Interface{Location: new("westeurope"), Properties: &armnetwork.InterfacePropertiesFormat{
		IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{Name: new("primary"), Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{
			Subnet: &armnetwork.Subnet{ID: new(subnetID)},
		}}},
	}}
	for _, change := range changes {
		change(&n)
	}
	return n
}

// machine is one that can be created, with an interface and disks that go with it.
func machine(name string, changes ...func(*armcompute.VirtualMachine)) armcompute.VirtualMachine {
	v := armcompute.VirtualMachine{Location: new("westeurope"), Zones: []*string{new("1")}, Tags: map[string]*string{"role": new("worker")}, Properties: &armcompute.VirtualMachineProperties{
		HardwareProfile: &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes("Standard_D2s_v5"))},
		StorageProfile: &armcompute.StorageProfile{
			ImageReference: &armcompute.ImageReference{ID: new(imageID)},
			OSDisk: &armcompute.OSDisk{
				Name: new(name + "-os"), CreateOption: new(armcompute.DiskCreateOptionTypesFromImage), DiskSizeGB: new(int32(20)), DeleteOption: new(armcompute.DiskDeleteOptionTypesDelete),
				ManagedDisk: &armcompute.ManagedDiskParameters{StorageAccountType: new(armcompute.StorageAccountTypesPremiumLRS)},
			},
		},
		OSProfile: &armcompute.OSProfile{
			ComputerName: &name, AdminUsername: new("talos"), CustomData: new("Y29uZmlndXJhdGlvbg=="),
			LinuxConfiguration: &armcompute.LinuxConfiguration{DisablePasswordAuthentication: new(true), SSH: &armcompute.SSHConfiguration{
				PublicKeys: []*armcompute.SSHPublicKey{{Path: new("/home/talos/.ssh/authorized_keys"), KeyData: new(publicKey)}},
			}},
		},
		NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{
			ID: new(resources + "Microsoft.Network/networkInterfaces/" + name), Properties: &armcompute.NetworkInterfaceReferenceProperties{DeleteOption: new(armcompute.DeleteOptionsDelete)},
		}}},
	}}
	for _, change := range changes {
		change(&v)
	}
	return v
}

// run creates a machine and returns it when it runs.
func (f *fixture) run(t *testing.T, name string, changes ...func(*armcompute.VirtualMachine)) armcompute.VirtualMachine {
	t.Helper()
	f.createNIC(t, name)
	p, err := f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", name, machine(name, changes...), nil)
	must(t, err)
	got := finish(t, p)
	return got.VirtualMachine
}

func (f *fixture) createNIC(t *testing.T, name string, changes ...func(*armnetwork.Interface)) armnetwork.Interface {
	t.Helper()
	p, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", name, nic(changes...), nil)
	must(t, err)
	return finish(t, p).Interface
}

// finish waits for the end of an operation.
func finish[T any](t *testing.T, p *runtime.Poller[T]) T {
	t.Helper()
	got, err := p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: 5 * time.Millisecond})
	must(t, err)
	return got
}

// code is that of a refusal, with its status; empty: there was none.
func code(err error) string {
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	return fmt.Sprintf("%d %s", refused.StatusCode, refused.ErrorCode)
}

func expect(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("%s: %q, want %q: %v", what, got, want, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("it did not happen: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func plan(t *testing.T, faults string) fault.Plan {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + faults))
	must(t, err)
	return p
}

// prefix keeps netip in use for tests that dial.
func endpoint(address string, port uint16) string {
	return netip.AddrPortFrom(netip.MustParseAddr(address), port).String()
}
