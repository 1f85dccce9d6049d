// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// imageGB is the size of Talos' images for the platform.
const imageGB = 10

// talosImage is an image that a user has imported, as the guide says.
func talosImage(version, schematic, arch string) Image {
	name := "talos-" + strings.ReplaceAll(version, ".", "-")
	if schematic != "" {
		name += "-" + schematic[:min(len(schematic), 12)]
	}
	t := v1alpha1.TalosSpec{Version: version, Schematic: schematic}
	return Image{Name: name + "-" + arch, Family: "talos-" + arch, Arch: map[string]string{"arm64": arm}[arch], Description: describe(t)}
}

// describe is what the importer of an image writes about it.
func describe(t v1alpha1.TalosSpec) string {
	if t.Schematic == "" {
		return "Talos " + t.Version
	}
	return "Talos " + t.Version + " schematic " + t.Schematic
}

func (g *GCP) installImages() {
	all := slices.Clone(g.seed.Images)
	for _, version := range append([]string{"v1.9.2", "v1.10.0"}, g.seed.TalosVersions...) {
		all = append(all, talosImage(version, "", "amd64"), talosImage(version, "", "arm64"))
	}
	all = append(all, Image{Name: "debian-12-bookworm-v20250113", Family: "debian-12", Project: "debian-cloud"})
	for _, i := range all {
		path := "global/images/" + i.Name
		if i.Project != "" {
			path = "projects/" + i.Project + "/" + path
		}
		g.add("image", path, i.object())
	}
}

func (i Image) object() object {
	o := object{
		"status": "READY", "sourceType": "RAW", "architecture": i.Arch, "diskSizeGb": fmt.Sprint(max(i.GB, imageGB)), "archiveSizeBytes": "134217728",
		"family": i.Family, "description": i.Description, "storageLocations": []any{"eu"},
		"guestOsFeatures": []any{object{"type": "VIRTIO_SCSI_MULTIQUEUE"}, object{"type": "UEFI_COMPATIBLE"}, object{"type": "GVNIC"}},
	}
	if i.Arch == "" {
		o["architecture"] = x86
	}
	labels := object{}
	for key, value := range i.Labels {
		labels[key] = value
	}
	o["labelFingerprint"] = fingerprint(labels)
	if len(labels) > 0 {
		o["labels"] = labels
	}
	return o
}

func prepareImage(c *call, r *resource) error {
	o := r.Object
	if o.sub("rawDisk").str("source") == "" {
		return invalid("resource.rawDisk.source", "", "The simulated platform creates images from archives in Cloud Storage only.")
	}
	o.fill(object{
		"status": "READY", "sourceType": "RAW", "architecture": x86, "diskSizeGb": fmt.Sprint(imageGB), "archiveSizeBytes": "134217728",
		"labelFingerprint": fingerprint(o.sub("labels")), "storageLocations": []any{"eu"},
	})
	return c.checkQuota("", "IMAGES", 1)
}

func imageMethods() map[string]method {
	return map[string]method{"images.getFromFamily": {verb: fault.Get, resource: fault.Image, handle: imageFromFamily}}
}

// imageFromFamily returns the newest image of a family that is not deprecated.
func imageFromFamily(c *call) (any, error) {
	path := c.path("images", "family/"+c.params["family"])
	if err := c.allow("compute.images.getFromFamily", path); err != nil {
		return nil, err
	}
	if newest := c.newestOf(strings.TrimSuffix(path, "family/"+c.params["family"]), c.params["family"]); newest != nil {
		return newest.Object, nil
	}
	return nil, c.notFound(path)
}

func (c *call) newestOf(prefix, family string) (newest *resource) {
	for _, r := range c.st.all("images") {
		fits := strings.HasPrefix(r.Path, prefix) && r.Object.str("family") == family && !r.Object.has("deprecated")
		if fits && (newest == nil || newest.Object.str("creationTimestamp") <= r.Object.str("creationTimestamp")) {
			newest = r
		}
	}
	return newest
}

// imageAt returns the image that a field of a request names: a name or a family, of this
// project or of another one.
func (c *call) imageAt(field, value string) (*resource, error) {
	missing := invalid(field, value, "The referenced image resource cannot be found.")
	path, ok := c.pathOf(value)
	if !ok || !strings.Contains(path, "global/images/") {
		return nil, invalid(field, value, "The URL is malformed.")
	}
	if prefix, family, found := strings.Cut(path, "family/"); found {
		if newest := c.newestOf(prefix, family); newest != nil {
			return newest, nil
		}
		return nil, missing
	}
	r := c.st.ready(path)
	if r == nil {
		return nil, missing
	}
	if !strings.HasPrefix(path, "projects/") {
		return r, c.allow("compute.images.useReadOnly", path)
	}
	return r, nil
}
