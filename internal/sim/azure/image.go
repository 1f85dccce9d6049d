// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// image is what a machine is created from.
type image struct {
	arch, generation string
	sizeGB           int
	specialized      bool
	plan             *plan
	unaccepted       bool // the terms of the plan
}

type managedImage = resource[imageProperties]

type imageProperties struct {
	status
	HyperVGeneration     string        `json:"hyperVGeneration,omitempty"`
	StorageProfile       *imageStorage `json:"storageProfile,omitempty"`
	SourceVirtualMachine *ref          `json:"sourceVirtualMachine,omitempty"`
}

type imageStorage struct {
	OSDisk        *imageDisk `json:"osDisk,omitempty"`
	DataDisks     []struct{} `json:"dataDisks"`
	ZoneResilient bool       `json:"zoneResilient"`
}

type imageDisk struct {
	OSType             string `json:"osType,omitempty"`
	OSState            string `json:"osState,omitempty"`
	DiskSizeGB         int    `json:"diskSizeGB,omitempty"`
	BlobURI            string `json:"blobUri,omitempty"`
	Caching            string `json:"caching,omitempty"`
	StorageAccountType string `json:"storageAccountType,omitempty"`
	ManagedDisk        *ref   `json:"managedDisk,omitempty"`
}

func checkImage(_ *call, r, _ *record) error {
	p := &r.object.(*managedImage).Properties
	if p.SourceVirtualMachine != nil || p.StorageProfile == nil || p.StorageProfile.OSDisk == nil || p.StorageProfile.OSDisk.BlobURI == "" {
		return notSimulated("images that are not created from a blob")
	}
	p.HyperVGeneration = cmp.Or(p.HyperVGeneration, "V1")
	d := p.StorageProfile.OSDisk
	d.DiskSizeGB, p.StorageProfile.DataDisks = cmp.Or(d.DiskSizeGB, 8), []struct{}{}
	if d.OSType == "" || d.OSState == "" {
		return missingParameter("storageProfile.osDisk.osState")
	}
	return nil
}

type (
	gallery        = resource[galleryProperties]
	galleryImage   = resource[galleryImageProperties]
	galleryVersion = resource[galleryVersionProperties]
)

type galleryProperties struct {
	status
	Description string `json:"description,omitempty"`
}

type galleryImageProperties struct {
	status
	OSType           string            `json:"osType,omitempty"`
	OSState          string            `json:"osState,omitempty"`
	HyperVGeneration string            `json:"hyperVGeneration,omitempty"`
	Architecture     string            `json:"architecture,omitempty"`
	Identifier       galleryIdentifier `json:"identifier"`
	Description      string            `json:"description,omitempty"`
}

type galleryIdentifier struct {
	Publisher string `json:"publisher,omitempty"`
	Offer     string `json:"offer,omitempty"`
	SKU       string `json:"sku,omitempty"`
}

type galleryVersionProperties struct {
	status
	PublishingProfile *publishingProfile `json:"publishingProfile,omitempty"`
	StorageProfile    *galleryStorage    `json:"storageProfile,omitempty"`
}

type publishingProfile struct {
	TargetRegions     []targetRegion `json:"targetRegions"`
	ReplicaCount      int            `json:"replicaCount,omitempty"`
	ExcludeFromLatest bool           `json:"excludeFromLatest"`
	PublishedDate     string         `json:"publishedDate,omitempty"`
}

type targetRegion struct {
	Name                 string `json:"name"`
	RegionalReplicaCount int    `json:"regionalReplicaCount,omitempty"`
	StorageAccountType   string `json:"storageAccountType,omitempty"`
}

type galleryStorage struct {
	Source      *ref         `json:"source,omitempty"`
	OSDiskImage *galleryDisk `json:"osDiskImage,omitempty"`
}

type galleryDisk struct {
	SizeInGB    int    `json:"sizeInGB,omitempty"`
	HostCaching string `json:"hostCaching,omitempty"`
	Source      *ref   `json:"source,omitempty"`
}

func checkGalleryImage(_ *call, r, _ *record) error {
	p := &r.object.(*galleryImage).Properties
	p.Architecture, p.HyperVGeneration = cmp.Or(p.Architecture, "x64"), cmp.Or(p.HyperVGeneration, "V1")
	if p.OSType == "" || p.OSState == "" || p.Identifier.Publisher == "" || p.Identifier.Offer == "" || p.Identifier.SKU == "" {
		return missingParameter("galleryImage.properties.identifier")
	}
	return nil
}

var imageVersion = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

func checkGalleryVersion(c *call, r, _ *record) error {
	p := &r.object.(*galleryVersion).Properties
	if !imageVersion.MatchString(r.top().Name) {
		return invalidParameter("galleryImageVersionName", "The gallery image version name '%s' is not of the form <MajorVersion>.<MinorVersion>.<Patch>.", r.top().Name)
	}
	if p.StorageProfile == nil || p.StorageProfile.Source == nil {
		return missingParameter("galleryImageVersion.properties.storageProfile.source")
	}
	_, source := find[managedImage](c.st, p.StorageProfile.Source.ID)
	if source == nil {
		return refuse(http.StatusNotFound, "SourceImageNotFound", "The source '%s' was not found.", p.StorageProfile.Source.ID)
	}
	p.StorageProfile.OSDiskImage = &galleryDisk{SizeInGB: source.Properties.StorageProfile.OSDisk.DiskSizeGB, HostCaching: "ReadWrite"}
	if p.PublishingProfile == nil || len(p.PublishingProfile.TargetRegions) == 0 {
		p.PublishingProfile = &publishingProfile{TargetRegions: []targetRegion{{Name: c.seed.Location, RegionalReplicaCount: 1, StorageAccountType: "Standard_LRS"}}, ReplicaCount: 1}
	}
	return nil
}

// name is how an image is called: its ID, or the name in the marketplace.
func (i *imageReference) name() string {
	switch {
	case i == nil:
		return ""
	case i.ID != "" || i.CommunityGalleryImageID != "":
		return cmp.Or(i.ID, i.CommunityGalleryImageID)
	}
	return strings.Join([]string{i.Publisher, i.Offer, i.SKU, i.Version}, ":")
}

func imageNotFound(name, where string) refusal {
	return refuse(http.StatusNotFound, "PlatformImageNotFound", "The platform image '%s' is not available. Verify that all fields in the storage profile are correct. For more details about storage profile information, please refer to https://aka.ms/storageprofile. Location: %s.", name, where).about("imageReference")
}

// imageFor finds the image of a reference.
func (c *call) imageFor(i *imageReference) (image, error) {
	switch {
	case i.ID != "" && (i.Publisher != "" || i.CommunityGalleryImageID != ""):
		return image{}, invalidParameter("imageReference", "The reference of an image has an ID and other names.")
	case i.CommunityGalleryImageID != "":
		return c.communityImage(i.CommunityGalleryImageID)
	case i.ID == "":
		return c.platformImage(i)
	}
	id, _ := parseID(i.ID)
	switch strings.ToLower(id.kind()) {
	case strings.ToLower(imageKind):
		return c.ownImage(i.ID, id)
	case strings.ToLower(galleryKind + "/images/versions"), strings.ToLower(galleryKind + "/images"):
		return c.galleryImage(id)
	}
	return image{}, invalidParameter("imageReference.id", "The value '%s' of parameter imageReference.id is invalid.", i.ID)
}

func (c *call) ownImage(text string, id resourceID) (image, error) {
	r, own := find[managedImage](c.st, text)
	if r == nil {
		return image{}, notFound(id)
	}
	if !sameLocation(own.Location, c.seed.Location) {
		return image{}, invalidParameter("imageReference.id", "The image '%s' is not in location '%s' of the machine.", text, c.seed.Location)
	}
	d := own.Properties.StorageProfile.OSDisk
	return image{arch: "x64", generation: own.Properties.HyperVGeneration, sizeGB: d.DiskSizeGB, specialized: d.OSState == "Specialized"}, nil
}

// galleryImage is a version in a gallery, or the latest of an image.
func (c *call) galleryImage(id resourceID) (image, error) {
	if len(id.names) < len(id.types) || len(id.names) < 2 {
		return image{}, notFound(id)
	}
	definition := resourceID{id.subscription, id.group, "Microsoft.Compute", []string{"galleries", "images"}, id.names[:2]}
	_, d := find[galleryImage](c.st, definition.String())
	if d == nil {
		return image{}, notFound(id)
	}
	var found *galleryVersion
	each(c.st, func(_ *record, v *galleryVersion) {
		own, _ := parseID(v.ID)
		latest := len(id.names) == 2 && own.parent().key() == definition.key() && (found == nil || newer(v.Name, found.Name))
		if latest || own.key() == id.key() {
			found = v
		}
	})
	if found == nil {
		return image{}, refuse(http.StatusNotFound, "GalleryImageNotFound", "The gallery image %s is not available in %s region. Please contact image owner to replicate to this region, or change your requested region.", id, c.seed.Location).about("imageReference")
	}
	if p := found.Properties.PublishingProfile; !slices.ContainsFunc(p.TargetRegions, func(t targetRegion) bool { return sameLocation(t.Name, c.seed.Location) }) {
		return image{}, refuse(http.StatusNotFound, "GalleryImageNotFound", "The gallery image %s is not available in %s region. Please contact image owner to replicate to this region, or change your requested region.", id, c.seed.Location).about("imageReference")
	}
	return image{arch: d.Properties.Architecture, generation: d.Properties.HyperVGeneration, sizeGB: found.Properties.StorageProfile.OSDiskImage.SizeInGB, specialized: d.Properties.OSState == "Specialized"}, nil
}

// newer compares versions of three numbers.
func newer(a, b string) bool {
	pad := func(s string) (out []string) {
		for part := range strings.SplitSeq(s, ".") {
			out = append(out, strings.Repeat("0", max(0, 12-len(part)))+part)
		}
		return out
	}
	return slices.Compare(pad(a), pad(b)) > 0
}
