// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// talosGallery is the community gallery that Talos' own images are published in.
	talosGallery = "siderolabs-c4d707c0-343e-42de-b597-276e4f7a5b0b"

	communityPrefix = "/communitygalleries/"
	hintImage       = "set spec.image of the request or spec.azure.imageURN, or import the image, see docs/getting-started/azure.md"
)

// image is what a machine boots from: its reference is an id, the id of an image in a
// community gallery, or publisher:offer:sku:version.
type image struct {
	reference    string
	architecture string
	generation   string
	leastGB      int32
	plan         *armcompute.Plan
	// text is where the schematic may be named; published is Talos' own image.
	text      string
	published bool
}

// wanted names the image of a machine.
func (p *platform) wanted(s provider.MachineSpec) string { return cmp.Or(s.Image, p.spec.ImageURN) }

// image returns the image of a machine: a managed image by id or name, an image of a
// gallery, one of the marketplace, or that of the Talos version and the schematic.
func (p *platform) image(ctx context.Context, s provider.MachineSpec) (image, error) {
	name := p.wanted(s)
	if name == "" && s.TalosVersion == "" {
		return image{}, provider.Invalid.New("", provider.ReasonImageMissing, errors.New("neither an image nor a Talos version is set"), hintImage)
	}
	return p.images.Get(ctx, name+" "+s.TalosVersion+" "+s.Schematic, func(ctx context.Context) (image, error) {
		found, err := p.findImage(ctx, s, name)
		if gone(err) {
			err = p.noImage(cmp.Or(name, "Talos "+s.TalosVersion))
		}
		return found, err
	})
}

func (p *platform) findImage(ctx context.Context, s provider.MachineSpec, name string) (image, error) {
	urn := strings.Split(name, ":")
	switch {
	case name == "":
		return p.talosImage(ctx, s)
	case strings.HasPrefix(strings.ToLower(name), communityPrefix):
		return p.communityImage(ctx, name)
	case strings.HasPrefix(name, "/"):
		return p.imageByID(ctx, name)
	case len(urn) == 4:
		return p.marketImage(ctx, urn)
	case len(urn) > 1:
		return image{}, invalidImage(name, "it does not have the form publisher:offer:sku:version")
	}
	return p.managedImage(ctx, p.spec.SubscriptionID, p.spec.ResourceGroup, name)
}

func invalidImage(name, why string) error {
	return provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %q: %s", name, why), hintImage)
}

func (p *platform) noImage(name string) error {
	return provider.Invalid.New("", provider.ReasonImageNotFound, fmt.Errorf("there is no image %q that the subscription may use", name), hintImage)
}

func (p *platform) imageByID(ctx context.Context, text string) (image, error) {
	id, err := arm.ParseResourceID(text)
	if err != nil {
		return image{}, invalidImage(text, "it is not the ID of a resource")
	}
	switch kind := strings.ToLower(id.ResourceType.String()); kind {
	case "microsoft.compute/images":
		return p.managedImage(ctx, id.SubscriptionID, id.ResourceGroupName, id.Name)
	case "microsoft.compute/galleries/images/versions":
		return p.galleryImage(ctx, id.Parent, id)
	case "microsoft.compute/galleries/images":
		return p.galleryImage(ctx, id, nil)
	}
	return image{}, invalidImage(text, "it is the ID of "+id.ResourceType.String())
}

func (p *platform) managedImage(ctx context.Context, subscription, group, name string) (image, error) {
	images, err := armcompute.NewImagesClient(subscription, p.credential, p.options)
	if err != nil {
		return image{}, err
	}
	found, err := images.Get(ctx, group, name, nil)
	if err != nil {
		return image{}, err
	}
	return managed(found.Image)
}

// managed reads a managed image, which is always of x64.
func managed(i armcompute.Image) (image, error) {
	out := image{reference: value(i.ID), architecture: archX64, text: fmt.Sprint(value(i.Name), tagMap(i.Tags))}
	if i.Properties == nil {
		return out, nil
	}
	out.generation = string(value(i.Properties.HyperVGeneration))
	if s := i.Properties.StorageProfile; s != nil && s.OSDisk != nil {
		out.leastGB = value(s.OSDisk.DiskSizeGB)
	}
	return out, usable(out.reference, value(i.Properties.ProvisioningState))
}

// usable refuses an image that no machine can boot from.
func usable(name, state string) error {
	switch state {
	case "", "Succeeded":
		return nil
	case "Failed", "Canceled":
		return provider.Invalid.New("", provider.ReasonImageBroken, fmt.Errorf("image %s: its import has failed", name), "import it again")
	}
	return provider.Unavailable.New("", provider.ReasonImageNotReady, fmt.Errorf("image %s is %s", name, strings.ToLower(state)), cloud.HintAgain)
}

// galleryImage reads the definition of an image, which has its architecture, and the
// version if one is named.
func (p *platform) galleryImage(ctx context.Context, of, version *arm.ResourceID) (image, error) {
	images, err := armcompute.NewGalleryImagesClient(of.SubscriptionID, p.credential, p.options)
	if err != nil {
		return image{}, err
	}
	found, err := images.Get(ctx, of.ResourceGroupName, of.Parent.Name, of.Name, nil)
	if err != nil {
		return image{}, err
	}
	out := image{reference: of.String(), architecture: archX64, text: fmt.Sprint(of, tagMap(found.Tags))}
	if d := found.Properties; d != nil {
		out.architecture, out.generation = cmp.Or(string(value(d.Architecture)), archX64), string(value(d.HyperVGeneration))
		out.text += value(d.Description)
	}
	if version == nil {
		return out, nil
	}
	versions, err := armcompute.NewGalleryImageVersionsClient(of.SubscriptionID, p.credential, p.options)
	if err != nil {
		return image{}, err
	}
	one, err := versions.Get(ctx, of.ResourceGroupName, of.Parent.Name, of.Name, version.Name, nil)
	if err != nil {
		return image{}, err
	}
	out.reference = version.String()
	out.text += fmt.Sprint(version.Name, tagMap(one.Tags))
	if one.Properties != nil {
		err = usable(out.reference, string(value(one.Properties.ProvisioningState)))
	}
	return out, err
}

// communityImage reads an image that is shared with everyone, in the location.
func (p *platform) communityImage(ctx context.Context, id string) (image, error) {
	words := strings.Split(strings.Trim(id, "/"), "/")
	if len(words) != 6 || !strings.EqualFold(words[2], "images") || !strings.EqualFold(words[4], "versions") {
		return image{}, invalidImage(id, "it does not have the form /CommunityGalleries/GALLERY/Images/IMAGE/Versions/VERSION")
	}
	at, err := p.location(ctx)
	if err != nil {
		return image{}, err
	}
	images, err := armcompute.NewCommunityGalleryImagesClient(p.spec.SubscriptionID, p.credential, p.options)
	if err != nil {
		return image{}, err
	}
	found, err := images.Get(ctx, at, words[1], words[3], nil)
	if err != nil {
		return image{}, err
	}
	versions, err := armcompute.NewCommunityGalleryImageVersionsClient(p.spec.SubscriptionID, p.credential, p.options)
	if err != nil {
		return image{}, err
	}
	if _, err := versions.Get(ctx, at, words[1], words[3], words[5], nil); err != nil {
		return image{}, err
	}
	out := image{reference: id, architecture: archX64, text: id, published: words[1] == talosGallery}
	if d := found.Properties; d != nil {
		out.architecture, out.generation = cmp.Or(string(value(d.Architecture)), archX64), string(value(d.HyperVGeneration))
	}
	return out, nil
}

// marketImage reads an image of the marketplace. The newest version is resolved, so that a
// repeated call asks for the same.
func (p *platform) marketImage(ctx context.Context, urn []string) (image, error) {
	at, err := p.location(ctx)
	if err != nil {
		return image{}, err
	}
	if strings.EqualFold(urn[3], "latest") {
		all, err := p.market.List(ctx, at, urn[0], urn[1], urn[2], nil)
		if err != nil {
			return image{}, err
		}
		if len(all.VirtualMachineImageResourceArray) == 0 {
			return image{}, p.noImage(strings.Join(urn, ":"))
		}
		latest := slices.MaxFunc(all.VirtualMachineImageResourceArray, func(a, b *armcompute.VirtualMachineImageResource) int {
			return compareVersions(value(a.Name), value(b.Name))
		})
		urn[3] = value(latest.Name)
	}
	found, err := p.market.Get(ctx, at, urn[0], urn[1], urn[2], urn[3], nil)
	if err != nil {
		return image{}, err
	}
	out := image{reference: strings.Join(urn, ":"), architecture: archX64, text: strings.Join(urn, ":")}
	if d := found.Properties; d != nil {
		out.architecture, out.generation = cmp.Or(string(value(d.Architecture)), archX64), string(value(d.HyperVGeneration))
		if d.Plan != nil {
			out.plan = &armcompute.Plan{Name: d.Plan.Name, Product: d.Plan.Product, Publisher: d.Plan.Publisher}
		}
	}
	return out, nil
}

// compareVersions compares versions of numbers with dots: names in the order of the
// alphabet have 1.9.2 after 1.10.0.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

// talosImage looks for a managed image of the resource group that has version and
// schematic in its name or its tags, and else for the published one, which has no
// extensions.
func (p *platform) talosImage(ctx context.Context, s provider.MachineSpec) (image, error) {
	architecture, err := p.architecture(ctx)
	if err != nil {
		return image{}, err
	}
	if architecture == archX64 {
		images, err := armcompute.NewImagesClient(p.spec.SubscriptionID, p.credential, p.options)
		if err != nil {
			return image{}, err
		}
		all, err := drain(ctx, images.NewListByResourceGroupPager(p.spec.ResourceGroup, nil), func(r armcompute.ImagesClientListByResourceGroupResponse) []*armcompute.Image { return r.Value })
		if err != nil {
			return image{}, err
		}
		if found := newest(all, s.TalosVersion, s.Schematic); found != nil {
			return managed(*found)
		}
	}
	name := "talos-" + strings.ToLower(architecture)
	return p.communityImage(ctx, fmt.Sprintf("/CommunityGalleries/%s/Images/%s/Versions/%s", talosGallery, name, strings.TrimPrefix(s.TalosVersion, "v")))
}

// newest returns the last by name of the images that name the version and the schematic.
// The plain one may be left out.
func newest(all []*armcompute.Image, version, schematic string) *armcompute.Image {
	all = slices.DeleteFunc(slices.Clone(all), func(i *armcompute.Image) bool {
		text := fmt.Sprint(value(i.Name), tagMap(i.Tags))
		return !cloud.ShowsVersion(text, version) || schematic != "" && schematic != cloud.PlainSchematic && !strings.Contains(text, schematic)
	})
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(a, b *armcompute.Image) int { return strings.Compare(value(a.Name), value(b.Name)) })
}
