// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Nutanix as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderNutanix, Start: start, Seed: seedFor}
}

// seedFor returns what a manifest expects on the platform.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.Nutanix
	if spec == nil {
		return Seed{}
	}
	s := Seed{
		Cluster: spec.ClusterUUID, Subnet: cmp.Or(spec.SubnetUUID, spec.SubnetName), Image: cmp.Or(spec.ImageUUID, spec.ImageName), Project: spec.Project,
		Container: cmp.Or(spec.StorageContainerUUID, spec.StorageContainerName), Containers: diskClasses(cb.Spec.Cluster), Endpoint: spec.Endpoint,
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

// diskClasses returns the storage containers that extra disks name.
func diskClasses(c v1alpha1.ClusterSpec) (out []string) {
	pools := []v1alpha1.NodePool{c.ControlPlane}
	if c.Workers != nil {
		pools = append(pools, *c.Workers)
	}
	for _, p := range pools {
		for _, d := range p.ExtraDisks {
			if d.StorageClass != "" {
				out = append(out, d.StorageClass)
			}
		}
	}
	return out
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

func (p *Prism) file(name string) string { return filepath.Join(p.options.Dir, name) }

// Credentials implements facade.API.
func (p *Prism) Credentials() map[string]string {
	return map[string]string{v1alpha1.KeyUsername: p.file("username"), v1alpha1.KeyPassword: p.file("password")}
}

// Admin implements facade.API. It is a file with the URL of the API, the user, the password
// and the file of the authority.
func (p *Prism) Admin() string { return p.file("admin.json") }

// User is the same for the user.
func (p *Prism) User() string { return p.file("user.json") }

// access is the content of such a file.
type access struct {
	Endpoint string `json:"endpoint"`
	Username string `json:"username"`
	Password string `json:"password"`
	APIKey   string `json:"apiKey"`
	CA       string `json:"caBundle"` // a file
}

// writeCredentials writes the files of the user and of the administrator.
func (p *Prism) writeCredentials() error {
	user, admin := p.st.principals.ByID[userName], p.st.principals.ByID[adminName]
	return errors.Join(
		plane.WriteFile(p.file("username"), []byte(user.Name)),
		plane.WriteFile(p.file("password"), []byte(user.Password)),
		plane.WriteFile(p.file("apiKey"), []byte(user.APIKey)),
		p.writeAccess(p.User(), user, p.front.Address()),
		p.writeAccess(p.Admin(), admin, p.admin.Address()),
	)
}

func (p *Prism) writeAccess(file string, who *principal, address string) error {
	raw, err := json.Marshal(access{"https://" + address, who.Name, who.Password, who.APIKey, p.options.Authority.File()})
	if err != nil {
		return err
	}
	return plane.WriteFile(file, raw)
}
