// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

const (
	diskKind    = "Microsoft.Compute/disks"
	imageKind   = "Microsoft.Compute/images"
	setKind     = "Microsoft.Compute/availabilitySets"
	galleryKind = "Microsoft.Compute/galleries"
)

var computeName = nameRule{regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`), 80}

func computeKinds() []*kind {
	return []*kind{
		{
			name: vmKind, fault: fault.Machine, create: func() object { return &vm{} }, rule: vmName, hasETag: true, onlyNew: true, zonal: true, identified: true,
			created: http.StatusCreated, check: checkVM, links: vmLinks, apply: applyVM, finish: finishVM, show: showVM,
			reads: map[string]func(*call, *record) (answer, error){"instanceview": serveInstanceView},
			actions: map[string]func(*call, *record) (answer, error){
				"start": startVM, "poweroff": powerOffVM, "deallocate": deallocateVM, "restart": restartVM,
			},
		},
		{
			name: diskKind, fault: fault.Disk, create: func() object { return &disk{} }, rule: computeName, zonal: true, skus: true,
			created: http.StatusAccepted, check: checkDisk, removable: diskRemovable,
		},
		{name: imageKind, fault: fault.Image, create: func() object { return &managedImage{} }, rule: computeName, created: http.StatusCreated, check: checkImage},
		{
			name: setKind, create: func() object { return &availabilitySet{} }, rule: computeName, skus: true, synchronous: true, check: checkSet,
			removable: setRemovable, show: showSet, fault: fault.Network,
		},
		{name: galleryKind, create: func() object { return &gallery{} }, rule: computeName, created: http.StatusCreated},
		{name: galleryKind + "/images", create: func() object { return &galleryImage{} }, rule: computeName, created: http.StatusCreated, check: checkGalleryImage},
		{name: galleryKind + "/images/versions", create: func() object { return &galleryVersion{} }, created: http.StatusCreated, check: checkGalleryVersion},
	}
}

type disk = resource[diskProperties]

type diskProperties struct {
	status
	OSType              string       `json:"osType,omitempty"`
	HyperVGeneration    string       `json:"hyperVGeneration,omitempty"`
	CreationData        creationData `json:"creationData"`
	DiskSizeGB          int          `json:"diskSizeGB,omitempty"`
	DiskSizeBytes       int          `json:"diskSizeBytes,omitempty"`
	DiskState           string       `json:"diskState,omitempty"`
	TimeCreated         string       `json:"timeCreated,omitempty"`
	UniqueID            string       `json:"uniqueId,omitempty"`
	Encryption          *encryption  `json:"encryption,omitempty"`
	NetworkAccessPolicy string       `json:"networkAccessPolicy,omitempty"`
	PublicNetworkAccess string       `json:"publicNetworkAccess,omitempty"`
}

type creationData struct {
	CreateOption string `json:"createOption,omitempty"`
}

type encryption struct {
	Type string `json:"type,omitempty"`
}

var diskTypes = []string{"Standard_LRS", "StandardSSD_LRS", "Premium_LRS", "StandardSSD_ZRS", "Premium_ZRS"}

func checkDisk(c *call, r, before *record) error {
	d := r.object.(*disk)
	p := &d.Properties
	if d.SKU == nil {
		d.SKU = &sku{Name: "Standard_LRS"}
	}
	if before != nil {
		old := before.object.(*disk).Properties
		p.DiskSizeGB = cmp.Or(p.DiskSizeGB, old.DiskSizeGB)
		if p.DiskSizeGB < old.DiskSizeGB {
			return bad("ResizeDiskError", "Disk size reduction is not supported. Current size is %d bytes, requested size is %d bytes.", old.DiskSizeGB*gib, p.DiskSizeGB*gib)
		}
		p.CreationData, p.OSType, p.HyperVGeneration = old.CreationData, old.OSType, old.HyperVGeneration
		completeDisk(d, before.Created)
		p.DiskState = old.DiskState
		return nil
	}
	switch {
	case !slices.Contains(diskTypes, d.SKU.Name):
		return invalidParameter("sku.name", "The value '%s' of parameter 'sku.name' is not valid.", d.SKU.Name)
	case p.CreationData.CreateOption == "":
		return missingParameter("disk.properties.creationData.createOption")
	case p.CreationData.CreateOption != "Empty":
		return notSimulated("disks with the create option " + p.CreationData.CreateOption)
	case p.DiskSizeGB < 1 || p.DiskSizeGB > 32767:
		return invalidParameter("diskSizeGB", "The value '%d' of parameter 'diskSizeGB' is out of range. Value '%d' must be between '1' and '32767' inclusive.", p.DiskSizeGB, p.DiskSizeGB)
	}
	completeDisk(d, c.now)
	return nil
}

// completeDisk fills what the platform decides.
func completeDisk(d *disk, created time.Time) {
	p := &d.Properties
	p.DiskState, p.DiskSizeBytes, p.UniqueID = "Unattached", p.DiskSizeGB*gib, derivedUUID(d.ID+created.String())
	p.TimeCreated, p.Encryption = created.UTC().Format(time.RFC3339Nano), &encryption{"EncryptionAtRestWithPlatformKey"}
	p.NetworkAccessPolicy, p.PublicNetworkAccess = "AllowAll", "Enabled"
	d.SKU.Tier = "Standard"
	if d.SKU.Name == "Premium_LRS" || d.SKU.Name == "Premium_ZRS" {
		d.SKU.Tier = "Premium"
	}
}

func diskRemovable(_ *call, r *record) error {
	if by := r.top().ManagedBy; by != "" {
		return conflicts("OperationNotAllowed", "Disk %s is attached to VM %s.", r.top().Name, by)
	}
	return nil
}

type availabilitySet = resource[setProperties]

type setProperties struct {
	status
	PlatformFaultDomainCount  int   `json:"platformFaultDomainCount,omitempty"`
	PlatformUpdateDomainCount int   `json:"platformUpdateDomainCount,omitempty"`
	VirtualMachines           []ref `json:"virtualMachines"`
}

func checkSet(c *call, r, _ *record) error {
	s := r.object.(*availabilitySet)
	if s.SKU == nil {
		s.SKU = &sku{Name: "Classic"}
	}
	p := &s.Properties
	p.PlatformFaultDomainCount = cmp.Or(p.PlatformFaultDomainCount, 2)
	p.PlatformUpdateDomainCount = cmp.Or(p.PlatformUpdateDomainCount, 5)
	switch {
	case s.SKU.Name != "Aligned" && s.SKU.Name != "Classic":
		return invalidParameter("sku.name", "The value '%s' of parameter 'sku.name' is not valid.", s.SKU.Name)
	case p.PlatformFaultDomainCount > 3 || s.SKU.Name == "Aligned" && p.PlatformFaultDomainCount > 2+len(c.seed.Zones)/3:
		return invalidParameter("platformFaultDomainCount", "The specified fault domain count %d must fall in the range 1 to %d.", p.PlatformFaultDomainCount, 2+len(c.seed.Zones)/3)
	case p.PlatformUpdateDomainCount > 20:
		return invalidParameter("platformUpdateDomainCount", "The specified update domain count %d must fall in the range 1 to 20.", p.PlatformUpdateDomainCount)
	}
	p.VirtualMachines = []ref{}
	return nil
}

func (s *state) inSet(id string) []ref {
	return refsTo(s, func(v *vm) bool { return v.Properties.AvailabilitySet.key() == keyOf(id) })
}

func setRemovable(c *call, r *record) error {
	if len(c.st.inSet(r.top().ID)) > 0 {
		return conflicts("OperationNotAllowed", "Availability Set '%s' cannot be deleted. Before deleting an Availability Set please ensure that it does not contain any VM.", r.top().Name)
	}
	return nil
}

func showSet(c *call, r *record) any {
	s := *r.object.(*availabilitySet)
	s.Properties.VirtualMachines = append([]ref{}, c.st.inSet(s.ID)...)
	s.Properties.ProvisioningState = ""
	return &s
}
