// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// platformImages are the images of the marketplace, and those of the manifest that are
// called as such.
func (a *Azure) platformImages() []Image {
	out := []Image{{Publisher: "Canonical", Offer: "ubuntu-24_04-lts", Name: "server", Version: "24.04.202501150", SizeGB: 30}}
	for _, i := range a.seed.Images {
		if i.Publisher != "" {
			out = append(out, i)
		}
	}
	return out
}

// communityGallery is that in which the makers of Talos publish their images.
const communityGallery = "siderolabs-c4d707c0-343e-42de-b597-276e4f7a5b0b"

// communityImages are the images in that gallery, by architecture.
var communityImages = map[string]string{"talos-x64": "x64", "talos-arm64": "Arm64"}

func (c *call) platformImage(i *imageReference) (image, error) {
	var found *Image
	for _, p := range c.platformImages() {
		fits := strings.EqualFold(p.Publisher, i.Publisher) && strings.EqualFold(p.Offer, i.Offer) && strings.EqualFold(p.Name, i.SKU)
		if fits && (i.Version == p.Version || i.Version == "latest" && (found == nil || newer(p.Version, found.Version))) {
			found = &p
		}
	}
	if found == nil {
		return image{}, imageNotFound(i.name(), c.seed.Location)
	}
	i.ExactVersion = found.Version
	return found.image(), nil
}

// image is what a machine is created from.
func (i Image) image() image {
	out := image{arch: i.Arch, generation: i.Generation, sizeGB: i.SizeGB}
	out.arch = cmp.Or(out.arch, "x64")
	out.generation = cmp.Or(out.generation, "V2")
	out.sizeGB = cmp.Or(out.sizeGB, 8)
	if i.Plan {
		out.plan, out.unaccepted = &plan{Name: i.Name, Product: i.Offer, Publisher: i.Publisher}, i.Unaccepted
	}
	return out
}

// communityVersions are those of Talos that are published.
func (a *Azure) communityVersions() (out []string) {
	for _, v := range append([]string{"v1.9.2", "v1.9.5", "v1.10.0"}, a.seed.TalosVersions...) {
		if v = strings.TrimPrefix(v, "v"); !slices.Contains(out, v) && imageVersion.MatchString(v) {
			out = append(out, v)
		}
	}
	return out
}

func (c *call) communityImage(id string) (image, error) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	for len(parts) < 6 {
		parts = append(parts, "")
	}
	arch := communityImages[strings.ToLower(parts[3])]
	version := parts[5]
	if strings.EqualFold(version, "latest") || version == "" {
		version = c.communityVersions()[0]
	}
	if !strings.EqualFold(parts[0], "CommunityGalleries") || !strings.EqualFold(parts[1], communityGallery) || arch == "" || !slices.Contains(c.communityVersions(), version) {
		return image{}, refuse(http.StatusNotFound, "CommunityGalleryImageNotFound", "The gallery image %s is not available in %s region.", id, c.seed.Location).about("imageReference")
	}
	return image{arch: arch, generation: "V2", sizeGB: 10}, nil
}

// servePublishers lists the marketplace: publishers, offers, SKUs, versions.
func (c *call) servePublishers(names []string, types []string) (answer, error) {
	level := len(types) // publishers, artifacttypes, offers, skus, versions
	var found []Image
	for _, i := range c.platformImages() {
		path := []string{"", i.Publisher, "vmimage", i.Offer, i.Name, i.Version}
		fits := true
		for n, name := range names[1:] {
			fits = fits && n+1 < len(path) && strings.EqualFold(path[n+1], name)
		}
		if fits {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return answer{}, imageNotFound(strings.Join(names[1:], "/"), c.seed.Location)
	}
	base := c.id.String()
	if len(names) == level {
		return ok(c.showPlatformImage(base, found[0]))
	}
	if order := c.query.Get("$orderby"); order == "name desc" || order == "name" {
		slices.SortFunc(found, func(a, b Image) int { return strings.Compare(a.Version, b.Version) })
		if order != "name" {
			slices.Reverse(found)
		}
	} else if order != "" {
		return answer{}, bad("InvalidParameter", "The value '%s' of parameter $orderby is invalid.", order)
	}
	out, seen := []any{}, map[string]bool{}
	for _, i := range found {
		name := []string{"", i.Publisher, "vmimage", i.Offer, i.Name, i.Version}[level-1]
		if !seen[name] {
			seen[name] = true
			out = append(out, map[string]string{"id": base + "/" + name, "name": name, "location": c.seed.Location})
		}
	}
	if top, err := strconv.Atoi(c.query.Get("$top")); err == nil {
		out = out[:min(max(top, 0), len(out))]
	}
	return ok(out) // a plain list
}

func (c *call) showPlatformImage(id string, i Image) any {
	got := i.image()
	properties := map[string]any{
		"architecture": got.arch, "hyperVGeneration": got.generation, "osDiskImage": map[string]any{"operatingSystem": "Linux", "sizeInGb": got.sizeGB},
		"dataDiskImages": []any{}, "automaticOSUpgradeProperties": map[string]bool{"automaticOSUpgradeSupported": false},
	}
	if got.plan != nil {
		properties["plan"] = got.plan
	}
	return map[string]any{"id": id, "name": i.Version, "location": c.seed.Location, "properties": properties}
}

// serveCommunity answers for the images and versions of the community gallery.
func (c *call) serveCommunity(names []string) (answer, error) {
	missing := refuse(http.StatusNotFound, "CommunityGalleryNotFound", "The community gallery '%s' is not found in %s.", strings.Join(names[1:], "/"), c.seed.Location)
	if len(names) < 2 || !strings.EqualFold(names[1], communityGallery) {
		return answer{}, missing
	}
	show := func(name, unique string, properties map[string]any) any {
		return map[string]any{"name": name, "location": c.seed.Location, "type": "Microsoft.Compute/locations/communityGalleries", "identifier": map[string]string{"uniqueId": "/CommunityGalleries/" + communityGallery + unique}, "properties": properties}
	}
	definition := func(name string) any {
		return show(name, "/Images/"+name, map[string]any{
			"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2", "architecture": communityImages[name],
			"identifier": map[string]string{"publisher": "siderolabs", "offer": "talos", "sku": name},
		})
	}
	versions := func(name string) (out []any) {
		for _, v := range c.communityVersions() {
			out = append(out, show(v, "/Images/"+name+"/Versions/"+v, map[string]any{"publishedDate": "2025-01-16T12:00:00Z", "excludeFromLatest": false, "storageProfile": map[string]any{"osDiskImage": map[string]any{"diskSizeGB": 10}}}))
		}
		return out
	}
	switch depth, kinds := len(names), len(c.id.types); {
	case depth == 2 && kinds == 3:
		return c.page([]any{definition("talos-arm64"), definition("talos-x64")})
	case depth < 3 || communityImages[strings.ToLower(names[2])] == "":
		return answer{}, missing
	case depth == 3 && kinds == 3:
		return ok(definition(strings.ToLower(names[2])))
	case depth == 3:
		return c.page(versions(strings.ToLower(names[2])))
	default:
		for i, v := range c.communityVersions() {
			if v == names[3] {
				return ok(versions(strings.ToLower(names[2]))[i])
			}
		}
	}
	return answer{}, missing
}
