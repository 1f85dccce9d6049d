// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Nutanix as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderNutanix, Seed: seedFor, Start: cloud.Start("Nutanix", func(o facade.Options, s Seed) (*Prism, error) {
		return newPrism(o, s, nil)
	})}
}

// seedFor returns what a manifest expects on the platform.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.Nutanix
	if spec == nil {
		return Seed{}
	}
	s := Seed{
		Cluster: spec.ClusterUUID, Subnet: cmp.Or(spec.SubnetUUID, spec.SubnetName), Image: cmp.Or(spec.ImageUUID, spec.ImageName), Project: spec.Project,
		Container: cmp.Or(spec.StorageContainerUUID, spec.StorageContainerName), Containers: facade.StorageClasses(cb.Spec.Cluster), Endpoint: spec.Endpoint,
	}
	if n := pc.Spec.Network; n != nil {
		s.CIDR, s.Gateway, s.NoPool = n.Subnet, n.Gateway, n.Mode == v1alpha1.NetworkModeIPAM
	}
	if s.CIDR == "" {
		s.CIDR = around(cb.Spec.Network.VIP)
	}
	if u, err := url.Parse(spec.Endpoint); err == nil && u.Host != "" {
		s.Hosts = []string{hostOf(u, spec.Port)}
	}
	s.ImageName = imageName(cb.Spec.Talos)
	return s
}

// defaultPort is that of Prism.
const defaultPort = "9440"

// hostOf is the host of an endpoint with its port: its own, or that of the manifest.
func hostOf(u *url.URL, port int32) string {
	switch {
	case u.Port() != "":
		return u.Host
	case port != 0:
		return u.Host + ":" + itoa(port)
	}
	return u.Host + ":" + defaultPort
}

// around is the /24 that an address lies in.
func around(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.Is4() {
		return ""
	}
	return netip.PrefixFrom(a, 24).Masked().String()
}

// imageName is what the operator has called the image of a version and a schematic.
func imageName(t v1alpha1.TalosSpec) string {
	if t.Version == "" {
		return ""
	}
	name := "talos-" + t.Version + "-openstack-amd64"
	if t.Schematic != "" {
		name += "-" + t.Schematic
	}
	return name
}

// Credentials implements facade.API.
func (p *Prism) Credentials() map[string]string {
	return map[string]string{v1alpha1.KeyUsername: p.File("username"), v1alpha1.KeyPassword: p.File("password")}
}

// Admin implements facade.API. It is a file with the URL of the API, the user, the password
// and the file of the authority.
func (p *Prism) Admin() string { return p.File("admin.json") }

// User is the same for the user.
func (p *Prism) User() string { return p.File("user.json") }

// access is the content of such a file.
type access struct {
	Endpoint string `json:"endpoint"`
	Username string `json:"username"`
	Password string `json:"password"`
	APIKey   string `json:"apiKey"`
	CA       string `json:"caBundle"` // a file
}

// files are those of the user and of the administrator.
func (p *Prism) files() map[string][]byte {
	user, admin := p.st.principals.ByID[userName], p.st.principals.ByID[adminName]
	return map[string][]byte{
		"username": []byte(user.Name), "password": []byte(user.Password), "apiKey": []byte(user.APIKey),
		"user.json": p.accessOf(user, p.Address()), "admin.json": p.accessOf(admin, p.AdminAddress()),
	}
}

func (p *Prism) accessOf(who *principal, address string) []byte {
	raw, err := json.Marshal(access{"https://" + address, who.Name, who.Password, who.APIKey, p.Options.Authority.File()})
	if err != nil {
		return nil // strings can always be written
	}
	return raw
}
