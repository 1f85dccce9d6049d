// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Proxmox VE as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderProxmox, Start: start, Seed: seedFor}
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
	hosts := slices.Clone(p.seed.Hosts)
	if u, err := url.Parse(p.seed.Endpoint); err == nil && u.Host != "" {
		hosts = append(hosts, u.Host)
	}
	return hosts
}

func (p *PVE) file(name string) string { return filepath.Join(p.options.Dir, name) }

// Credentials implements facade.API.
func (p *PVE) Credentials() map[string]string {
	return map[string]string{
		v1alpha1.KeyToken: p.file("token"), v1alpha1.KeyTokenSecret: p.file("tokenSecret"), v1alpha1.KeyEndpoint: p.file("endpoint"),
		v1alpha1.KeyCABundle: p.options.Authority.File(),
	}
}

// Admin implements facade.API. It is a file for Open.
func (p *PVE) Admin() string { return p.file("admin.json") }

// User is the same for the user.
func (p *PVE) User() string { return p.file("user.json") }

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
		CABundle: p.options.Authority.File(),
	}, "", "  ")
	if err != nil {
		return nil // strings can always be written
	}
	return append(raw, '\n')
}

// writeCredentials writes the files of the user and of the administrator.
func (p *PVE) writeCredentials() error {
	return errors.Join(
		plane.WriteFile(p.file("token"), []byte(tokenID)),
		plane.WriteFile(p.file("tokenSecret"), []byte(p.st.accounts.ByID[tokenID].Secret)),
		plane.WriteFile(p.file("endpoint"), []byte(p.seed.Endpoint)),
		plane.WriteFile(p.User(), p.accessOf(tokenID, p.front.Address())),
		plane.WriteFile(p.Admin(), p.accessOf(adminID, p.admin.Address())),
	)
}
