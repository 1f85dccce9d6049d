// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/nocloud"
)

// platformNoCloud is the platform of the images of Talos that read network data.
const platformNoCloud = "nocloud"

// macAddress is the hardware address that network data with an address refers to. Without one
// KubeVirt chooses it.
func macAddress(s provider.MachineSpec) string {
	if s.Network == nil {
		return ""
	}
	return nocloud.MAC(s.Owner)
}

func networkData(s provider.MachineSpec) provider.Sensitive {
	return nocloud.NetworkData(s, macAddress(s))
}

// checkAddressable refuses an image whose name shows that it does not read network data.
func (m *machines) checkAddressable(ctx context.Context, op string, i image) error {
	return m.recent.check(ctx, "addresses "+i.id(), func(ctx context.Context) error { return m.readAddressable(ctx, op, i) })
}

func (m *machines) readAddressable(ctx context.Context, op string, i image) error {
	u, err := m.read(ctx, imageKind(), i.namespace, i.name)
	if err != nil {
		return apiError(op, err)
	}
	if other := platformShown(u); other != "" {
		return provider.Invalid.New(op, provider.ReasonAddressUnsupported, fmt.Errorf("image %q is for the platform %s of Talos, which does not read the address of a machine", i.id(), other), "upload the image for the platform nocloud")
	}
	return nil
}

// platformShown returns the other platform that the source or the name of an image shows.
func platformShown(u *unstructured.Unstructured) string {
	url, _, _ := unstructured.NestedString(u.Object, "spec", "url")
	name, _, _ := unstructured.NestedString(u.Object, "spec", "displayName")
	return cloud.OtherPlatform(path.Base(url)+" "+name, platformNoCloud)
}

// addressable looks whether the images read network data, where addresses come from NetworkPools.
func (p preflight) addressable(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if !p.pooled {
		return nil, nil
	}
	return cloud.Images(specs, p.wanted, func(s provider.MachineSpec) (provider.Finding, error) {
		i, err := p.image("", s)
		if err == nil {
			err = p.checkAddressable(ctx, "", i)
		}
		return check.Verdict("addresses with image "+p.wanted(s), err)
	})
}
