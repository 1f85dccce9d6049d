// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Azure as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderAzure, Seed: seedFor, Start: cloud.Start("Azure", func(o facade.Options, s Seed) (*Azure, error) {
		return newAzure(o, s, true)
	})}
}

// seedFor returns what a manifest expects in the subscription.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.Azure
	if spec == nil {
		return Seed{}
	}
	s := Seed{
		Subscription: spec.SubscriptionID, Group: spec.ResourceGroup, Location: spec.Location, Network: spec.VNetName, Subnet: spec.SubnetName,
		SecurityGroup: spec.SecurityGroupName, Endpoint: spec.Endpoint, AuthorityHost: spec.AuthorityHost,
	}
	if n := pc.Spec.Network; n != nil {
		s.CIDR = n.Subnet
	}
	s.Hosts, s.Plain = cloud.Hosts(spec.Endpoint, spec.AuthorityHost)
	if cb != nil {
		s.seedImages(spec.ImageURN, cb.Spec.Talos)
	}
	return s
}

// seedImages adds the images of the version, and the image that the manifest names.
func (s *Seed) seedImages(urn string, t v1alpha1.TalosSpec) {
	if t.Version != "" {
		s.TalosVersions = []string{t.Version}
	}
	i, named := imageOf(urn)
	if !named && t.Schematic != "" { // what its user has imported
		i, named = Image{Name: "talos-" + t.Version}, true
	}
	if strings.EqualFold(i.Version, "latest") {
		i.Version = cmp.Or(strings.TrimPrefix(t.Version, "v"), "1.0.0")
	}
	if named {
		i.Tags = imageTags(t)
		s.Images = append(s.Images, i)
	}
}

// imageTags say what an image was built from.
func imageTags(t v1alpha1.TalosSpec) map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{"talos-version": t.Version, "talos-schematic": t.Schematic} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

// imageOf reads publisher:offer:sku:version, the name or the ID of a managed image, or the
// ID of a version in a gallery.
func imageOf(urn string) (Image, bool) {
	if parts := strings.Split(urn, ":"); len(parts) == 4 {
		return Image{Publisher: parts[0], Offer: parts[1], Name: parts[2], Version: parts[3]}, true
	}
	if urn != "" && !strings.Contains(urn, "/") {
		return Image{Name: urn}, true
	}
	id, _ := parseID(urn)
	switch strings.ToLower(id.kind()) {
	case "microsoft.compute/images":
		return Image{Group: id.group, Name: id.name()}, id.named()
	case "microsoft.compute/galleries/images/versions":
		if id.named() {
			return Image{Group: id.group, Gallery: id.names[0], Name: id.names[1], Version: id.names[2]}, true
		}
	}
	return Image{}, false
}

// Credentials implements facade.API.
func (a *Azure) Credentials() map[string]string {
	out := map[string]string{
		v1alpha1.KeyTenantID: a.File("tenantID"), v1alpha1.KeyClientID: a.File("clientID"), v1alpha1.KeyClientSecret: a.File("clientSecret"),
		v1alpha1.KeySubscriptionID: a.File("subscriptionID"),
	}
	if a.seed.Endpoint != "" {
		out[v1alpha1.KeyEndpoint] = a.File("endpoint")
	}
	if a.seed.AuthorityHost != "" {
		out[v1alpha1.KeyAuthorityHost] = a.File("authorityHost")
	}
	return out
}

// Admin implements facade.API. It is a file as the SDKs of Azure call it: with the
// credentials of a service principal and the addresses of its cloud.
func (a *Azure) Admin() string { return a.File("admin.json") }

// User is the same file of the user.
func (a *Azure) User() string { return a.File("user.json") }

// files are those of the user and of the administrator.
func (a *Azure) files() map[string][]byte {
	user, admin := a.actors[0], a.actors[1]
	return map[string][]byte{
		"tenantID": []byte(a.seed.Tenant), "clientID": []byte(user.ClientID), "clientSecret": []byte(user.Secret),
		"subscriptionID": []byte(a.seed.Subscription), "endpoint": []byte(a.seed.Endpoint), "authorityHost": []byte(a.seed.AuthorityHost),
		"user.json": a.authFile(user, a.Address()), "admin.json": a.authFile(admin, a.AdminAddress()),
	}
}

func (a *Azure) authFile(p *actor, address string) []byte {
	file := map[string]string{
		"clientId": p.ClientID, "clientSecret": p.Secret, "subscriptionId": a.seed.Subscription, "tenantId": a.seed.Tenant,
		"activeDirectoryEndpointUrl": "https://" + address, "resourceManagerEndpointUrl": "https://" + address + "/",
	}
	if _, err := os.Stat(a.Options.Authority.File()); err == nil {
		file["caBundle"] = a.Options.Authority.File()
	}
	raw, _ := json.MarshalIndent(file, "", "  ") // strings can be marshalled
	return append(raw, '\n')
}

// ownURLs are the addresses of this platform, which tokens can be asked for by.
func (a *Azure) ownURLs() (out []string) {
	for _, host := range a.seed.Hosts {
		out = append(out, "https://"+host)
	}
	for _, host := range a.seed.Plain {
		out = append(out, "http://"+host)
	}
	return append(out, "https://"+a.Address(), "https://"+a.AdminAddress(), strings.TrimRight(cmp.Or(a.seed.Endpoint, "https://management.azure.com"), "/"))
}
