// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			if _, err := s.proxmoxKeys(ctx); err != nil {
				return err
			}
			return awaitEndpoint(s)
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
	proxmox.Nodes, _, _ = unstructured.NestedStringSlice(s.infra.Object, "spec", "allowedNodes")
	if len(proxmox.Nodes) == 0 {
		proxmox.Nodes = []string{textOf(o.spec, "sourceNode")}
	}
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

// addressAnnotation records the address of a machine, in place of an IPAddress of the
// in-cluster provider.
const addressAnnotation = "stand-in.butlerlabs.dev/address"

// proxmoxAddress is the address that a machine has, or the first of the cluster's that no other
// machine has.
func (s *scope) proxmoxAddress(ctx context.Context, o order) (*provider.Network, error) {
	text := o.object.GetAnnotations()[addressAnnotation]
	if text == "" {
		free, err := s.freeAddress(ctx)
		if err != nil {
			return nil, err
		}
		before := o.object.DeepCopy()
		annotations := o.object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[addressAnnotation] = free.String()
		o.object.SetAnnotations(annotations)
		if err := s.Patch(ctx, o.object, client.MergeFrom(before)); err != nil {
			return nil, err
		}
		text = free.String()
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return nil, err
	}
	n := &provider.Network{Address: netip.PrefixFrom(address, int(numberOf(s.infra.Object, "spec", "ipv4Config", "prefix")))}
	n.Gateway, err = netip.ParseAddr(s.text("spec", "ipv4Config", "gateway"))
	servers, _, _ := unstructured.NestedStringSlice(s.infra.Object, "spec", "dnsServers")
	for _, server := range servers {
		if a, err := netip.ParseAddr(server); err == nil {
			n.DNSServers = append(n.DNSServers, a)
		}
	}
	return n, err
}

func (s *scope) freeAddress(ctx context.Context) (netip.Addr, error) {
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(infrastructureGroup + "/" + s.kind.version)
	all.SetKind(s.kind.prefix + "MachineList")
	if err := s.List(ctx, all, client.InNamespace(s.infra.GetNamespace())); err != nil {
		return netip.Addr{}, err
	}
	var taken []string
	for _, m := range all.Items {
		taken = append(taken, m.GetAnnotations()[addressAnnotation])
	}
	ranges, _, _ := unstructured.NestedStringSlice(s.infra.Object, "spec", "ipv4Config", "addresses")
	for _, r := range ranges {
		first, last, _ := strings.Cut(r, "-")
		from, err := netip.ParseAddr(first)
		to, err2 := netip.ParseAddr(last)
		if err := errors.Join(err, err2); err != nil {
			return netip.Addr{}, fmt.Errorf("spec.ipv4Config.addresses: %q: the rehearsal reads ranges as first-last: %w", r, err)
		}
		for a := from; a.Compare(to) <= 0; a = a.Next() {
			if !slices.Contains(taken, a.String()) {
				return a, nil
			}
		}
	}
	return netip.Addr{}, errors.New("no address of spec.ipv4Config.addresses is free")
}
