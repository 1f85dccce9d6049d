// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"runtime"
	"runtime/debug"

	"github.com/butlerdotdev/butler/internal/version"
)

// Info is what a build knows of itself.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Parts are the programs and libraries in this executable that users know by name.
	Parts []Part `json:"parts"`
	// Images are the digests of this release's images; other builds have none.
	Images map[string]string `json:"images,omitempty"`
}

// Part is a program or a library that is linked into the executable.
type Part struct {
	Name    string `json:"name"`
	Module  string `json:"module"`
	Version string `json:"version"`
}

// parts are the modules that version lists, in its order.
var parts = []Part{
	{Name: "Kubernetes", Module: "k8s.io/kubernetes"},
	{Name: "etcd", Module: "go.etcd.io/etcd/server/v3"},
	{Name: "Talos machinery", Module: "github.com/siderolabs/talos/pkg/machinery"},
	{Name: "Helm", Module: "helm.sh/helm/v4"},
	{Name: "Cluster API", Module: "sigs.k8s.io/cluster-api"},
	{Name: "controller-runtime", Module: "sigs.k8s.io/controller-runtime"},
}

// Describe returns what this executable knows of itself.
func Describe() (Info, error) {
	images, err := Digests()
	if err != nil {
		return Info{}, err
	}
	out := Info{
		Version: version.Version, Commit: version.Commit, Date: version.Date,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Images: images,
	}
	build, _ := debug.ReadBuildInfo() // nil in a build without modules
	out.Parts = linked(build)
	return out, nil
}

// linked returns the parts that a build has, with their versions.
func linked(build *debug.BuildInfo) (out []Part) {
	if build == nil {
		return nil
	}
	versions := map[string]string{}
	for _, m := range build.Deps {
		versions[m.Path] = m.Version
		if m.Replace != nil && m.Replace.Version != "" {
			versions[m.Path] = m.Replace.Version
		}
	}
	for _, p := range parts {
		if p.Version = versions[p.Module]; p.Version != "" {
			out = append(out, p)
		}
	}
	return out
}
