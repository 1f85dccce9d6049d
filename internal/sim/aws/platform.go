// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Platform returns AWS as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderAWS, Seed: seedFor, Start: cloud.Start("AWS", func(o facade.Options, s Seed) (*AWS, error) {
		return newAWS(o, s, firstAccount, true)
	})}
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
	s.Hosts, s.Plain = cloud.Hosts(spec.Endpoint)
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

// Credentials implements facade.API.
func (a *AWS) Credentials() map[string]string {
	out := map[string]string{
		v1alpha1.KeyAccessKeyID: a.File("accessKeyID"), v1alpha1.KeySecretAccessKey: a.File("secretAccessKey"),
	}
	if a.seed.Endpoint != "" {
		out[v1alpha1.KeyEndpoint] = a.File("endpoint")
	}
	return out
}

// Admin implements facade.API. It is a configuration file of the AWS command line tool.
func (a *AWS) Admin() string { return a.File("admin") }

// User is the file with which the command line tool calls as the user.
func (a *AWS) User() string { return a.File("config") }

// files are those of the user and of the administrator.
func (a *AWS) files() map[string][]byte {
	user, admin := a.st.principals.ByID[userName], a.st.principals.ByID[adminName]
	return map[string][]byte{
		"accessKeyID": []byte(user.AccessKeyID), "secretAccessKey": []byte(user.Secret), "endpoint": []byte(a.seed.Endpoint),
		"config": a.toolConfig(user, a.Address()), "admin": a.toolConfig(admin, a.AdminAddress()),
	}
}

// toolConfig is a configuration file of the AWS command line tool and of the SDKs.
func (a *AWS) toolConfig(p *principal, address string) []byte {
	ca := ""
	if _, err := os.Stat(a.Options.Authority.File()); err == nil {
		ca = fmt.Sprintf("ca_bundle = %s\n", a.Options.Authority.File())
	}
	return fmt.Appendf(nil, "[default]\nregion = %s\nendpoint_url = https://%s\naws_access_key_id = %s\naws_secret_access_key = %s\n%s",
		a.seed.Region, address, p.AccessKeyID, p.Secret, ca)
}
