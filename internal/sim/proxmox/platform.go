// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Proxmox VE as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderProxmox, Seed: seedFor, Start: cloud.Start("Proxmox VE", func(o facade.Options, s Seed) (*PVE, error) {
		return newPVE(o, s, firstCluster, true)
	})}
}

// seedFor returns what a manifest expects in the cluster: its nodes, its storage, its
// bridge and its template.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.Proxmox
	if spec == nil {
		return Seed{}
	}
	s := Seed{Endpoint: spec.Endpoint}
	for _, name := range spec.Nodes {
		s.Nodes = append(s.Nodes, Node{Name: name})
	}
	if spec.Bridge != "" && spec.Bridge != "vmbr0" {
		s.Bridges = []string{spec.Bridge}
	}
	if spec.Storage != "" {
		s.addStorage(Storage{Name: spec.Storage, Type: "lvmthin", Content: []string{"images", "rootdir"}, SizeGB: 8192})
	}
	s.seedTemplates(spec, cb.Spec.Talos)
	return s
}

// seedTemplates adds the template of the manifest: one with an ID to the first node, one
// with a name to each node, as local disks cannot be cloned to another one.
func (s *Seed) seedTemplates(spec *v1alpha1.ProxmoxSpec, t v1alpha1.TalosSpec) {
	one := Template{VMID: int(spec.TemplateID), Name: spec.Template, Storage: spec.Storage, Image: t.Version + " " + t.Schematic}
	if one.Name == "" {
		one.Name = "talos-" + t.Version
	}
	if one.VMID != 0 {
		s.Templates = []Template{one}
		return
	}
	for i, node := range spec.Nodes {
		one.VMID, one.Node = defaultTemplate+i, node
		s.Templates = append(s.Templates, one)
	}
}

// hostNames are the names of the API, with the port of the endpoint.
func (p *PVE) hostNames() []string {
	secure, _ := cloud.Hosts(p.seed.Endpoint)
	return slices.Concat(p.seed.Hosts, secure)
}

// Credentials implements facade.API.
func (p *PVE) Credentials() map[string]string {
	return map[string]string{
		v1alpha1.KeyToken: p.File("token"), v1alpha1.KeyTokenSecret: p.File("tokenSecret"), v1alpha1.KeyEndpoint: p.File("endpoint"),
		v1alpha1.KeyCABundle: p.Options.Authority.File(),
	}
}

// Admin implements facade.API. It is a file for Open.
func (p *PVE) Admin() string { return p.File("admin.json") }

// User is the same for the user.
func (p *PVE) User() string { return p.File("user.json") }

// access is how an account reaches the API.
type access struct {
	Endpoint string `json:"endpoint"`
	Token    string `json:"token"`
	Secret   string `json:"secret"`
	// User and Password are those of the token's owner.
	User     string `json:"user"`
	Password string `json:"password"`
	CABundle string `json:"caBundle"`
}

func (p *PVE) accessOf(token, address string) []byte {
	user := userOf(token)
	raw, err := json.MarshalIndent(access{
		Endpoint: "https://" + address, Token: token, Secret: p.st.accounts.ByID[token].Secret, User: user, Password: p.st.accounts.ByID[user].Secret,
		CABundle: p.Options.Authority.File(),
	}, "", "  ")
	if err != nil {
		return nil // strings can always be written
	}
	return append(raw, '\n')
}

// files are those of the user and of the administrator.
func (p *PVE) files() map[string][]byte {
	return map[string][]byte{
		"token": []byte(tokenID), "tokenSecret": []byte(p.st.accounts.ByID[tokenID].Secret), "endpoint": []byte(p.seed.Endpoint),
		"user.json": p.accessOf(tokenID, p.Address()), "admin.json": p.accessOf(adminID, p.AdminAddress()),
	}
}
