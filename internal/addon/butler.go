// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

const images = "ghcr.io/butlerdotdev/"

func butlerCRDs(_ cluster, a *Addon) {
	const group = ".butler.butlerlabs.dev"
	for _, plural := range []string{"butlerconfigs", "clusterbootstraps", "loadbalancerrequests", "machinerequests", "providerconfigs"} {
		a.Ready.CRDs = append(a.Ready.CRDs, plural+group)
	}
}

// butlerController may have an image of its own choosing. The tag is never
// latest: a restart must not change what runs.
func butlerController(c cluster, a *Addon) {
	b := c.Addons.ButlerController
	version := b.Version
	if version == latest {
		version = ""
	}
	own(c, a, cmp.Or(b.Image, images+ButlerController), cmp.Or(version, c.facts.Version))
	if r := c.facts.Registry; r != "" {
		a.Values["extraArgs"] = []string{"--charts=" + r}
	}
	c.readsCredentials(a)
}

// beside is the image of a further controller: where that of butler-controller
// comes from, in the version of this program.
func (c cluster) beside(key string) string {
	if image := c.Addons.ButlerController.Image; image != "" {
		return path.Join(path.Dir(image), key)
	}
	return images + key
}

// butlerBootstrap keeps the keys of the cluster beside its ClusterBootstrap, and
// reads the credentials of all its platforms. It keeps fetching addons from the
// registry that the first of them came from.
func butlerBootstrap(c cluster, a *Addon) {
	own(c, a, c.beside(a.Key), c.facts.Version)
	var args []string
	if r := c.facts.Registry; r != "" {
		args = append(args, "--charts="+r)
	}
	if d := c.digests(); d != "" {
		args = append(args, "--image-digests="+d)
	}
	if len(args) > 0 {
		a.Values["extraArgs"] = args
	}
	c.reaches(a, "clusterNamespaces", c.namespace())
	c.reaches(a, "credentialsNamespaces", append(c.foreignNamespaces(), c.credentialsNamespace())...)
}

// digests are those of the images as one argument: butler-bootstrap, which upgrades the
// controllers of its cluster, cannot have the digest of its own image in itself.
func (c cluster) digests() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.facts.Digests)) {
		out = append(out, name+"="+c.facts.Digests[name])
	}
	return strings.Join(out, ",")
}

// butlerProvider reads the Secret of the ProviderConfig and no other: the keys of the
// cluster may be beside it.
func butlerProvider(c cluster, a *Addon) {
	own(c, a, c.beside(a.Key), c.facts.Version)
	c.readsCredentials(a)
}

// readsCredentials lets a controller read the Secret of the ProviderConfig.
func (c cluster) readsCredentials(a *Addon) {
	if ref := c.facts.Platform.CredentialsRef; ref != nil {
		a.Values["credentialsSecrets"] = []string{ref.In(c.credentialsNamespace()).String()}
		c.needs(a, c.credentialsNamespace())
	}
}

func (c cluster) namespace() string { return cmp.Or(c.facts.Namespace, butlerSystem) }

// credentialsNamespace is where the credentials of the ProviderConfig lie.
func (c cluster) credentialsNamespace() string {
	beside := cmp.Or(c.facts.ProviderNamespace, c.namespace())
	if ref := c.facts.Platform.CredentialsRef; ref != nil {
		return ref.In(beside).Namespace
	}
	return beside
}

// foreignNamespaces are where the credentials of further platforms lie.
func (c cluster) foreignNamespaces() (out []string) {
	for _, p := range c.Addons.CAPI.InfrastructureProviders {
		if p.CredentialsSecretRef != nil {
			out = append(out, p.CredentialsSecretRef.In(c.namespace()).Namespace)
		}
	}
	return out
}

// reaches has a controller read Secrets in these namespaces, which then must be
// there: its Roles lie in them. Without the value it is the chart's own.
func (c cluster) reaches(a *Addon, value string, namespaces ...string) {
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if slices.Equal(namespaces, []string{butlerSystem}) {
		return
	}
	a.Values[value] = namespaces
	c.needs(a, namespaces...)
}

// needs has namespaces created before an addon, whose Roles are in them.
func (cluster) needs(a *Addon, namespaces ...string) {
	for _, name := range namespaces {
		if n := (Namespace{Name: name}); name != butlerSystem && !slices.Contains(a.Beside, n) {
			a.Beside = append(a.Beside, n)
		}
	}
}

// own fills in a controller of this project. Two of them elect a leader; they run on control
// planes too, so that the loss of all workers does not end them. The image of a release
// is pinned by its digest, which is the same in every registry that it was pushed to. An image
// with another name or version is the user's own.
func own(c cluster, a *Addon, repository, tag string) {
	image := map[string]any{"repository": repository, "tag": tag}
	if d := c.facts.Digests[a.Key]; d != "" && tag == c.facts.Version && path.Base(repository) == a.Key {
		image["digest"] = d
	}
	a.Values = map[string]any{"image": image, "replicaCount": min(2, c.nodes())}
	a.Ready.Workloads = deployments(butlerSystem, a.Key)
}

// Image is the image of a controller of this project.
type Image struct{ Repository, Tag, Digest string }

func (i Image) String() string {
	text := i.Repository + ":" + i.Tag
	if i.Digest != "" {
		text += "@" + i.Digest
	}
	return text
}

// Image returns the image of an addon of this project; other addons, and those without pods,
// have none.
func (a Addon) Image() (out Image) {
	if a.Source.Kind != ChartCarried {
		return out
	}
	image, _ := a.Values["image"].(map[string]any)
	out.Repository, _ = image["repository"].(string)
	out.Tag, _ = image["tag"].(string)
	out.Digest, _ = image["digest"].(string)
	return out
}
