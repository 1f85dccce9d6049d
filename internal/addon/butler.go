// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import "cmp"

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
}

func butlerBootstrap(c cluster, a *Addon) { own(c, a, images+a.Key, c.facts.Version) }

func butlerProvider(c cluster, a *Addon) { own(c, a, images+a.Key, c.facts.Version) }

// own fills in a controller of this project. Two of them elect a leader.
func own(c cluster, a *Addon, repository, tag string) {
	a.Values = map[string]any{
		"image":        map[string]any{"repository": repository, "tag": tag},
		"replicaCount": c.pair(),
	}
	a.Ready.Workloads = deployments(butlerSystem, a.Key)
}
