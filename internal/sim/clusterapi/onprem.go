// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func nutanixKind(p Platforms) kind {
	return kind{
		name: "nutanix", prefix: "Nutanix", version: "v1beta1", ignoresManagedBy: true, terminal: true, connect: p.connect(nutanixRequest),
		cluster: func(ctx context.Context, s *scope) error {
			_, err := s.nutanixKeys(ctx) // it is ready without an endpoint
			return err
		},
	}
}

// nutanixKeys are those in the format of the provider.
func (s *scope) nutanixKeys(ctx context.Context) (map[string][]byte, error) {
	name := s.text("spec", "prismCentral", "credentialRef", "name")
	data, err := s.secret(ctx, s.infra.GetNamespace(), name)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	var logins []struct {
		Type string `json:"type"`
		Data struct {
			PrismCentral map[string]string `json:"prismCentral"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data["credentials"], &logins); err != nil || len(logins) == 0 || logins[0].Type != "basic_auth" {
		return nil, errors.Join(fmt.Errorf("the key credentials of Secret %s has no login of type basic_auth", name), err)
	}
	login := logins[0].Data.PrismCentral
	keys := map[string][]byte{v1alpha1.KeyUsername: []byte(login["username"]), v1alpha1.KeyPassword: []byte(login["password"])}
	if bundle := s.text("spec", "prismCentral", "additionalTrustBundle", "data"); bundle != "" {
		keys[v1alpha1.KeyCABundle] = []byte(bundle)
	}
	return keys, nil
}

func nutanixRequest(ctx context.Context, s *scope, o order) (request, error) {
	keys, err := s.nutanixKeys(ctx)
	if err != nil {
		return request{}, err
	}
	subnet := map[string]any{}
	if all := nested(o.spec, "subnet"); len(all) > 0 {
		subnet = all[0]
	}
	cores := max(numberOf(o.spec, "vcpusPerSocket"), 1)
	nutanix := &v1alpha1.NutanixSpec{
		Endpoint: "https://" + s.text("spec", "prismCentral", "address"), Port: int32(numberOf(s.infra.Object, "spec", "prismCentral", "port")),
		Insecure: boolOf(s.infra.Object, "spec", "prismCentral", "insecure"), ClusterUUID: textOf(o.spec, "cluster", "uuid"),
		SubnetUUID: textOf(subnet, "uuid"), SubnetName: textOf(subnet, "name"),
		ImageUUID: textOf(o.spec, "image", "uuid"), ImageName: textOf(o.spec, "image", "name"), CoresPerSocket: int32(cores),
	}
	memory, err1 := resource.ParseQuantity(textOf(o.spec, "memorySize"))
	disk, err2 := resource.ParseQuantity(textOf(o.spec, "systemDiskSize"))
	return request{
		config: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderNutanix, Nutanix: nutanix}, credentials: keys, scheme: "nutanix://",
		machine: provider.MachineSpec{
			CPU: int32(numberOf(o.spec, "vcpuSockets") * cores), MemoryMB: int32(memory.Value() >> 20), DiskGB: int32(disk.Value() >> 30),
		},
	}, errors.Join(err1, err2)
}

func proxmoxKind(p Platforms) kind {
	return kind{
		name: "proxmox", prefix: "Proxmox", version: "v1alpha1", connect: p.connect(proxmoxRequest),
		cluster: func(ctx context.Context, s *scope) error {
			if !boolOf(s.infra.Object, "spec", "externalManagedControlPlane") && s.text("spec", "controlPlaneEndpoint", "host") == "" {
				return errors.New("spec.controlPlaneEndpoint is required unless spec.externalManagedControlPlane is true")
			}
			if err := awaitEndpoint(s); err != nil {
				return err
			}
			if err := s.proxmoxPool(ctx); err != nil {
				return err
			}
			_, err := s.proxmoxKeys(ctx)
			return err
		},
	}
}

func (s *scope) proxmoxKeys(ctx context.Context) (map[string][]byte, error) {
	data, err := s.secret(ctx, s.infra.GetNamespace(), s.text("spec", "credentialsRef", "name"))
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return data, nil
}

func proxmoxRequest(ctx context.Context, s *scope, o order) (request, error) {
	data, err := s.proxmoxKeys(ctx)
	if err != nil {
		return request{}, err
	}
	proxmox := &v1alpha1.ProxmoxSpec{
		Endpoint: string(data["url"]), Insecure: string(data["insecure"]) != "false", Storage: textOf(o.spec, "storage"),
		TemplateID: int32(numberOf(o.spec, "templateID")), Bridge: textOf(o.spec, "network", "default", "bridge"),
		VLAN: int32(numberOf(o.spec, "network", "default", "vlan")),
	}
	if first, last := numberOf(o.spec, "vmIDRange", "start"), numberOf(o.spec, "vmIDRange", "end"); first > 0 && last > 0 {
		proxmox.VMIDRange = &v1alpha1.VMIDRange{Start: int32(first), End: int32(last)}
	}
	proxmox.Nodes = []string{s.proxmoxNode(o)}
	keys := map[string][]byte{v1alpha1.KeyToken: data["token"], v1alpha1.KeyTokenSecret: data["secret"]}
	if len(data["root_ca"]) > 0 {
		keys[v1alpha1.KeyCABundle] = data["root_ca"]
	}
	address, err := s.proxmoxAddress(ctx, o)
	return request{
		config: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderProxmox, Proxmox: proxmox}, credentials: keys, scheme: "proxmox://",
		machine: provider.MachineSpec{
			CPU: int32(max(numberOf(o.spec, "numSockets"), 1) * numberOf(o.spec, "numCores")), MemoryMB: int32(numberOf(o.spec, "memoryMiB")),
			DiskGB: int32(numberOf(o.spec, "disks", "bootVolume", "sizeGb")), Network: address,
		},
	}, err
}
