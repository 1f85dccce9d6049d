// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns Google Cloud as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderGCP, Seed: seedFor, Start: cloud.Start("Google Cloud", func(o facade.Options, s Seed) (*GCP, error) {
		return newGCP(o, s, nil)
	})}
}

// seedFor returns what a manifest expects in the project.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.GCP
	if spec == nil {
		return Seed{}
	}
	s := Seed{
		Project: spec.ProjectID, Region: spec.Region, Network: spec.Network, Subnetwork: spec.Subnetwork, Tags: spec.Tags, Endpoint: spec.Endpoint,
		ServiceAccounts: []string{spec.ServiceAccount},
	}
	if n := pc.Spec.Network; n != nil {
		s.CIDR = n.Subnet
	}
	s.Hosts, s.Plain = cloud.Hosts(spec.Endpoint)
	s.seedImages(spec, cb.Spec.Talos)
	return s
}

// seedImages adds the images that the user has imported: that of the manifest, or that of
// its version and schematic.
func (s *Seed) seedImages(spec *v1alpha1.GCPSpec, t v1alpha1.TalosSpec) {
	project := spec.ImageProject
	if project == spec.ProjectID {
		project = ""
	}
	switch {
	case spec.Image != "":
		parts := strings.Split(spec.Image, "/")
		for i, part := range parts {
			if part == "projects" && i+1 < len(parts) && parts[i+1] != spec.ProjectID {
				project = parts[i+1]
			}
		}
		s.Images = append(s.Images, Image{Name: nameOf("/" + spec.Image), Project: project, Description: describe(t)})
	case spec.ImageFamily != "":
		s.Images = append(s.Images, Image{Name: spec.ImageFamily + "-1", Family: spec.ImageFamily, Project: project, Description: describe(t)})
	case t.Version != "":
		s.Images = append(s.Images, talosImage(t.Version, t.Schematic, "amd64"))
	}
}

// Credentials implements facade.API.
func (g *GCP) Credentials() map[string]string {
	out := map[string]string{v1alpha1.KeyServiceAccountKey: g.File("serviceAccountKey")}
	if g.seed.Endpoint != "" {
		out[v1alpha1.KeyEndpoint] = g.File("endpoint")
	}
	return out
}

// Admin implements facade.API. It is the file of a service account's key whose token
// endpoint is the simulator's: the API is at the same address.
func (g *GCP) Admin() string { return g.File("admin.json") }

// User is the same for the user.
func (g *GCP) User() string { return g.File("user.json") }

// tokenURI is Google's own token endpoint.
const tokenURI = "https://oauth2.googleapis.com/token"

// files are those of the user and of the administrator.
func (g *GCP) files() map[string][]byte {
	user, admin := g.st.principals.ByID[g.account(userName)], g.st.principals.ByID[g.account(adminName)]
	local := map[string]string{"ca_bundle": g.Options.Authority.File()} // other programs leave it out
	return map[string][]byte{
		"serviceAccountKey": g.keyFile(user, tokenURI, nil), "endpoint": []byte(g.seed.Endpoint),
		"user.json": g.keyFile(user, "https://"+g.Address()+"/token", local), "admin.json": g.keyFile(admin, "https://"+g.AdminAddress()+"/token", local),
	}
}
