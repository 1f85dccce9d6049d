// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
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
	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const (
	subscription = "00000000-0000-0000-0000-000000000000"
	resources    = "/subscriptions/" + subscription + "/resourceGroups/example/providers/"
	subnetID     = resources + "Microsoft.Network/virtualNetworks/butler/subnets/nodes"
	imageID      = resources + "Microsoft.Compute/images/talos"
	publicKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
)

// fixture is a simulated subscription whose machines open one port.
type fixture struct {
	cloudtest.Fixture

	userData atomic.Value // of the last machine
	options  *arm.ClientOptions
	compute  *armcompute.ClientFactory
	net      *armnetwork.ClientFactory
}

func everything() json.RawMessage { return json.RawMessage(`{"Name":"Contributor","Actions":["*"]}`) }

func start(t *testing.T, seed azure.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed azure.Seed) *fixture {
	t.Helper()
	if seed.Role == nil { // what the documented role allows is the driver's concern
		seed.Role = everything()
	}
	if seed.Images == nil {
		seed.Images = []azure.Image{{Name: "talos"}}
	}
	f := &fixture{}
	f.Booted = func(m datacenter.Machine) { f.userData.Store(string(m.UserData)) }
	f.Start(t, azure.Platform(), dir, seed)
	f.connect(t)
	return f
}

// clientOptions are those of an SDK whose calls go to the simulator, and are not repeated.
func (f *fixture) clientOptions() azcore.ClientOptions {
	return azcore.ClientOptions{Transport: f.Client(), Retry: policy.RetryOptions{MaxRetries: -1}}
}

func (f *fixture) connect(t *testing.T) {
	t.Helper()
	o := f.clientOptions()
	c, err := azidentity.NewClientSecretCredential(f.Credential(t, v1alpha1.KeyTenantID), f.Credential(t, v1alpha1.KeyClientID), f.Credential(t, v1alpha1.KeyClientSecret),
		&azidentity.ClientSecretCredentialOptions{ClientOptions: o})
	cloudtest.Must(t, err)
	f.options = &arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true}
	f.use(t, c)
}

// use has the clients call with a credential.
func (f *fixture) use(t *testing.T, c azcore.TokenCredential) {
	t.Helper()
	var err error
	f.compute, err = armcompute.NewClientFactory(subscription, c, f.options)
	cloudtest.Must(t, err)
	f.net, err = armnetwork.NewClientFactory(subscription, c, f.options)
	cloudtest.Must(t, err)
}

// token is one of the user.
func (f *fixture) token(t *testing.T) string {
	t.Helper()
	c, err := azidentity.NewClientSecretCredential(f.Credential(t, v1alpha1.KeyTenantID), f.Credential(t, v1alpha1.KeyClientID), f.Credential(t, v1alpha1.KeyClientSecret),
		&azidentity.ClientSecretCredentialOptions{ClientOptions: f.clientOptions()})
	cloudtest.Must(t, err)
	got, err := c.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://management.azure.com/.default"}})
	cloudtest.Must(t, err)
	return got.Token
}

// call sends a request as it is, and returns its status and its body.
func (f *fixture) call(t *testing.T, method, path, token, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://management.azure.com"+path, bytes.NewReader([]byte(body)))
	cloudtest.Must(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := f.Client().Do(r)
	cloudtest.Must(t, err)
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	cloudtest.Must(t, err)
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
	cloudtest.Must(t, err)
	got := finish(t, p)
	return got.VirtualMachine
}

func (f *fixture) createNIC(t *testing.T, name string, changes ...func(*armnetwork.Interface)) armnetwork.Interface {
	t.Helper()
	p, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", name, nic(changes...), nil)
	cloudtest.Must(t, err)
	return finish(t, p).Interface
}

// finish waits for the end of an operation.
func finish[T any](t *testing.T, p *runtime.Poller[T]) T {
	t.Helper()
	got, err := p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: 5 * time.Millisecond})
	cloudtest.Must(t, err)
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

func endpoint(address string, port uint16) string {
	return netip.AddrPortFrom(netip.MustParseAddr(address), port).String()
}
