// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns AWS as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderAWS, Start: start, Seed: seedFor}
}

// seedFor returns what a manifest expects in the account.
func seedFor(cb *v1alpha1.ClusterBootstrap, pc *v1alpha1.ProviderConfig) any {
	spec := pc.Spec.AWS
	if spec == nil {
		return Seed{}
	}
	s := Seed{
		Region: spec.Region, VPC: spec.VPCID, Subnets: spec.SubnetIDs, SecurityGroups: spec.SecurityGroupIDs,
		PublicSubnets: spec.PublicIP, Endpoint: spec.Endpoint,
	}
	if n := pc.Spec.Network; n != nil {
		s.CIDR = n.Subnet
	}
	if spec.IAMInstanceProfile != "" {
		s.Profiles = []string{filepath.Base(spec.IAMInstanceProfile)}
	}
	if u, err := url.Parse(spec.Endpoint); err == nil && u.Host != "" {
		if u.Scheme == "http" {
			s.Plain = u.Host
		} else {
			s.Hosts = []string{u.Host}
		}
	}
	s.seedImages(spec.AMI, cb.Spec.Talos)
	return s
}

// seedImages adds the official images of the version, and where the manifest has a
// schematic the image that its user has imported.
func (s *Seed) seedImages(ami string, t v1alpha1.TalosSpec) {
	if t.Version != "" {
		s.TalosVersions = []string{t.Version}
	}
	name := "talos-" + t.Version
	if t.Schematic != "" {
		name += "-" + t.Schematic
	}
	if ami != "" || t.Schematic != "" {
		s.Images = append(s.Images, Image{ID: ami, Name: name + "-amd64"})
	}
}

func (a *AWS) file(name string) string { return filepath.Join(a.options.Dir, name) }

// Credentials implements facade.API.
func (a *AWS) Credentials() map[string]string {
	out := map[string]string{
		v1alpha1.KeyAccessKeyID: a.file("accessKeyID"), v1alpha1.KeySecretAccessKey: a.file("secretAccessKey"),
	}
	if a.seed.Endpoint != "" {
		out[v1alpha1.KeyEndpoint] = a.file("endpoint")
	}
	return out
}

// Admin implements facade.API. It is a configuration file of the AWS command line tool.
func (a *AWS) Admin() string { return a.file("admin") }

// User is the file with which the command line tool calls as the user.
func (a *AWS) User() string { return a.file("config") }

// writeCredentials writes the files of the user and of the administrator.
func (a *AWS) writeCredentials() error {
	user, admin := a.st.principals.ByID[userName], a.st.principals.ByID[adminName]
	return errors.Join(
		plane.WriteFile(a.file("accessKeyID"), []byte(user.AccessKeyID)),
		plane.WriteFile(a.file("secretAccessKey"), []byte(user.Secret)),
		plane.WriteFile(a.file("endpoint"), []byte(a.seed.Endpoint)),
		plane.WriteFile(a.User(), a.toolConfig(user, a.front.Address())),
		plane.WriteFile(a.Admin(), a.toolConfig(admin, a.admin.Address())),
	)
}

// toolConfig is a configuration file of the AWS command line tool and of the SDKs.
func (a *AWS) toolConfig(p *principal, address string) []byte {
	ca := ""
	if _, err := os.Stat(a.options.Authority.File()); err == nil {
		ca = fmt.Sprintf("ca_bundle = %s\n", a.options.Authority.File())
	}
	return fmt.Appendf(nil, "[default]\nregion = %s\nendpoint_url = https://%s\naws_access_key_id = %s\naws_secret_access_key = %s\n%s",
		a.seed.Region, address, p.AccessKeyID, p.Secret, ca)
}
