// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

// proxmox is Proxmox VE through cluster-api-provider-proxmox.
type proxmox struct {
	Input
	spec v1alpha1.ProxmoxSpec
}

func (proxmox) names() names {
	return names{version: "v1alpha1", cluster: "ProxmoxCluster", template: "ProxmoxMachineTemplate"}
}

func (p proxmox) warnings() []string {
	if p.spec.CPUType == "" {
		return nil
	}
	return []string{"spec.proxmox.cpuType of ProviderConfig " + p.Provider.Name + " does not apply to workers: they have that of the template"}
}

// credentials are one Secret for each cluster: the provider puts an owner and a finalizer on it.
// Whether certificates are verified is always said: left out, it would mean no.
func (p proxmox) credentials() ([]*unstructured.Unstructured, error) {
	token, secret := p.text(v1alpha1.KeyToken), p.text(v1alpha1.KeyTokenSecret)
	switch {
	case token == "" || secret == "":
		return nil, ofSecret(v1alpha1.KeyToken+", "+v1alpha1.KeyTokenSecret, "cluster-api-provider-proxmox logs in with an API token only; create one, and put it there")
	case p.text(v1alpha1.KeyFingerprint) != "" && p.text(v1alpha1.KeyCABundle) == "" && !p.spec.Insecure:
		return nil, ofSecret(v1alpha1.KeyFingerprint, "cluster-api-provider-proxmox knows no fingerprints; put the certificate authority into %s", v1alpha1.KeyCABundle)
	}
	address, err := p.address()
	if err != nil {
		return nil, err
	}
	data := map[string]string{"url": address, "token": token, "secret": secret, "insecure": strconv.FormatBool(p.spec.Insecure)}
	if bundle := p.text(v1alpha1.KeyCABundle); bundle != "" {
		data["root_ca"] = bundle
	}
	return []*unstructured.Unstructured{p.secret(p.credentialsName(), data)}, nil
}

func (p proxmox) text(key string) string {
	return strings.TrimRight(string(p.Credentials[key]), "\r\n")
}

// address is the server of the endpoint, with a port and without the path of the API, which
// the provider adds.
func (p proxmox) address() (string, error) {
	u, err := url.Parse(p.spec.Endpoint)
	if err != nil || u.Hostname() == "" {
		return "", ofProvider("spec.proxmox.endpoint", "%q is not a URL", p.spec.Endpoint)
	}
	if u.Port() == "" {
		u.Host += ":8006"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), nil
}

func (p proxmox) cluster() (object, error) {
	if len(p.dnsServers()) == 0 {
		return nil, ofProvider("spec.network.dnsServers", "cluster-api-provider-proxmox needs them, because workers have static addresses; set them")
	}
	if len(p.Addresses.Ranges) == 0 {
		return nil, ofProvider("spec.network.mode", "workers on Proxmox have static addresses, from NetworkPools; set it to ipam, and poolRefs")
	}
	if p.Addresses.Gateway == "" {
		return nil, ofProvider("spec.network.gateway", "workers on Proxmox have static addresses, and need it to reach the API server; set it")
	}
	return object{
		"externalManagedControlPlane": true,
		"allowedNodes":                list(p.allowedNodes()),
		"dnsServers":                  list(p.dnsServers()),
		p.family(): object{
			"addresses": list(p.Addresses.Ranges), "prefix": int64(p.Addresses.Prefix), "gateway": p.Addresses.Gateway,
		},
		"credentialsRef": object{"name": p.credentialsName(), "namespace": p.Namespace},
	}, nil
}

// allowedNodes are where workers are: on the node that the override names, because a template
// on storage that is not shared can be cloned to its own node alone, or on all of them.
func (p proxmox) allowedNodes() []string {
	if o := p.override().Proxmox; o != nil && o.Node != "" {
		return []string{o.Node}
	}
	return p.spec.Nodes
}

// family is the field for the kind of address.
func (p proxmox) family() string {
	if strings.Contains(p.Addresses.Gateway, ":") {
		return "ipv6Config"
	}
	return "ipv4Config"
}

func (p proxmox) template() (object, error) {
	o := v1alpha1.ProxmoxOverride{}
	if p.override().Proxmox != nil {
		o = *p.override().Proxmox
	}
	template, err := p.templateID(o)
	if err != nil {
		return nil, err
	}
	network := object{"bridge": cmp.Or(p.spec.Bridge, "vmbr0"), "model": "virtio"}
	if p.spec.VLAN > 0 {
		network["vlan"] = int64(p.spec.VLAN)
	}
	out := object{
		"sourceNode": cmp.Or(o.Node, p.spec.Nodes[0]),
		"templateID": template,
		"full":       true,
		"storage":    cmp.Or(o.Storage, p.spec.Storage),
		"numSockets": int64(1),
		"numCores":   int64(p.machine().CPU),
		"memoryMiB":  p.memoryMB(),
		"disks":      object{"bootVolume": object{"disk": "scsi0", "sizeGb": p.diskGB()}},
		"network":    object{"default": network},
		"tags":       list(p.words()),
		// Talos runs neither of them.
		"checks":           object{"skipCloudInitStatus": true, "skipQemuGuestAgent": true},
		"metadataSettings": object{"providerIDInjection": true},
	}
	if r := p.spec.VMIDRange; r != nil {
		out["vmIDRange"] = object{"start": int64(r.Start), "end": int64(r.End)}
	}
	return out, nil
}

// templateID is that of the override, of the operating system, or of the ProviderConfig.
func (p proxmox) templateID(o v1alpha1.ProxmoxOverride) (int64, error) {
	if o.TemplateID != 0 {
		return int64(o.TemplateID), nil
	}
	if ref := p.machine().OS.ImageRef; ref != "" {
		id, err := strconv.ParseInt(ref, 10, 32)
		if err != nil {
			return 0, ofTenant("spec.workers.machineTemplate.os.imageRef", "%q is not the VM id of a template", ref)
		}
		return id, nil
	}
	if p.spec.TemplateID == 0 {
		return 0, ofProvider("spec.proxmox.templateID", "cluster-api-provider-proxmox finds templates by id; set it, or infrastructureOverride.proxmox.templateID of the TenantCluster")
	}
	return int64(p.spec.TemplateID), nil
}

// words are the tags of machines: on Proxmox a tag is one word.
func (p proxmox) words() []string { return slices.Sorted(maps.Keys(tag.Proxmox().Write(p.tags()))) }
