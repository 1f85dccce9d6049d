// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// prepareDisk checks a disk of disks.insert, or of the order of an instance.
func prepareDisk(c *call, r *resource) error {
	o, zone := r.Object, locationOf(r.Path)
	if !o.has("type") {
		o["type"] = c.link("zones/" + zone + "/diskTypes/pd-standard")
	}
	if _, err := c.reference(o, "type", "resource.type", "diskTypes", "zones/"+zone); err != nil {
		return err
	}
	least := 0
	if source := c.query.Get("sourceImage"); source != "" {
		o["sourceImage"] = source
	}
	if o.has("sourceImage") {
		i, err := c.imageAt("resource.sourceImage", o.str("sourceImage"))
		if err != nil {
			return err
		}
		fromImage(o, i)
		least = i.Object.num("diskSizeGb")
	}
	switch {
	case !o.has("sizeGb") && least > 0:
		o["sizeGb"] = strconv.Itoa(least)
	case !o.has("sizeGb"):
		o["sizeGb"] = "500"
	case o.num("sizeGb") < max(least, 1) || o.num("sizeGb") > 65536:
		return sizeRefused("resource.sizeGb", o.str("sizeGb"), least)
	}
	o.fill(object{"status": "READY", "physicalBlockSizeBytes": "4096", "labelFingerprint": labelFingerprint(o), "architecture": x86})
	return c.diskQuota(r)
}

func (c *call) diskQuota(r *resource) error {
	metric := "SSD_TOTAL_GB"
	if strings.HasSuffix(r.Object.str("type"), "/pd-standard") {
		metric = "DISKS_TOTAL_GB"
	}
	return c.checkQuota(regionOf(locationOf(r.Path)), metric, float64(r.Object.num("sizeGb")))
}

func sizeRefused(field, value string, least int) error {
	if least > 0 {
		return invalid(field, value, "Requested disk size cannot be smaller than the image size (%d GB)", least)
	}
	return invalid(field, value, "Disk size cannot be smaller than 1 GB or larger than 65536 GB.")
}

// fromImage sets what a disk has from the image that it is a copy of.
func fromImage(o object, i *resource) {
	o["sourceImage"], o["sourceImageId"] = i.Object.str("selfLink"), i.id()
	o["architecture"] = i.Object["architecture"]
	if i.Object.has("guestOsFeatures") {
		o["guestOsFeatures"] = i.Object["guestOsFeatures"]
	}
}

// showDisk adds who uses a disk.
func showDisk(c *call, r *resource, o object) {
	if c.diskUsers == nil { // once for a list
		c.diskUsers = map[string][]any{}
		for _, i := range c.st.tables["instances"].ByID {
			for _, d := range i.Object.subs("disks") {
				c.diskUsers[d.str("source")] = append(c.diskUsers[d.str("source")], c.link(i.Path))
			}
		}
	}
	if users := c.diskUsers[c.link(r.Path)]; len(users) > 0 {
		o["users"] = users
	}
}

func diskMethods() map[string]method {
	return map[string]method{"disks.resize": change{kindOf("disks"), fault.Update, "resize", checkResize, applyResize}.method()}
}

func checkResize(c *call, r *resource) error {
	if c.body.num("sizeGb") < r.Object.num("sizeGb") {
		return invalid("sizeGb", c.body.str("sizeGb"), "New disk size '%s' must be larger than existing size '%s'.", c.body.str("sizeGb"), r.Object.str("sizeGb"))
	}
	return nil
}

func applyResize(_ *GCP, r *resource, body object) error {
	r.Object["sizeGb"] = body.str("sizeGb")
	return nil
}

// orderedDisk is a disk of an instance that is to be created: one that exists, or with new
// set one that comes with the instance.
type orderedDisk struct {
	attached object
	disk     *resource
	created  bool
}

// orderDisk checks a disk of an order.
func (c *call) orderDisk(instance string, t machineType, index int, d object) (orderedDisk, error) {
	field, zone := fmt.Sprintf("resource.disks[%d]", index), c.params["zone"]
	attached := object{
		"kind": "compute#attachedDisk", "type": "PERSISTENT", "mode": "READ_WRITE", "boot": d.bool("boot"), "autoDelete": d.bool("autoDelete"), "index": index,
		"interface": "SCSI", "deviceName": d.str("deviceName"),
	}
	if t.family.nvme {
		attached["interface"] = "NVME"
	}
	if attached.str("deviceName") == "" {
		attached["deviceName"] = fmt.Sprintf("persistent-disk-%d", index)
	}
	for _, key := range []string{"type", "mode", "interface"} {
		if d.has(key) && d.str(key) != attached.str(key) {
			return orderedDisk{}, notSimulated(field + "." + key)
		}
	}
	if d.has("source") {
		source := object{"source": d.str("source")}
		r, err := c.reference(source, "source", field+".source", "disks", "zones/"+zone)
		if err != nil {
			return orderedDisk{}, err
		}
		if users := c.st.users(c.link(r.Path), "instances"); len(users) > 0 {
			return orderedDisk{}, refuse("RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "The disk resource '%s' is already being used by '%s'", c.full(r.Path), c.full(users[0]))
		}
		attached["source"], attached["diskSizeGb"] = c.link(r.Path), r.Object.str("sizeGb")
		return orderedDisk{attached: attached, disk: r}, c.allow("compute.disks.use", r.Path)
	}
	r, err := c.newDisk(instance, t, index, field, d)
	if err != nil {
		return orderedDisk{}, err
	}
	attached["source"], attached["diskSizeGb"], attached["architecture"] = c.link(r.Path), r.Object.str("sizeGb"), r.Object["architecture"]
	if r.Object.has("guestOsFeatures") && d.bool("boot") {
		attached["guestOsFeatures"] = r.Object["guestOsFeatures"]
	}
	return orderedDisk{attached: attached, disk: r, created: true}, nil
}

// newDisk checks a disk that is created with its instance.
func (c *call) newDisk(instance string, t machineType, index int, field string, d object) (*resource, error) {
	p := d.sub("initializeParams")
	if !d.has("initializeParams") {
		return nil, invalid(field, "", "One of source and initializeParams is required.")
	}
	for key := range p {
		switch key {
		case "diskName", "diskSizeGb", "diskType", "sourceImage", "labels", "description":
		default:
			return nil, notSimulated(field + ".initializeParams." + key)
		}
	}
	name := p.str("diskName")
	switch {
	case name == "" && index == 0:
		name = instance
	case name == "":
		name = fmt.Sprintf("%s-%d", instance, index)
	}
	if d.bool("boot") && !p.has("sourceImage") {
		return nil, invalid(field+".initializeParams.sourceImage", "", "A boot disk needs an image.")
	}
	o := object{"description": p.str("description"), "labels": p.sub("labels")}
	for from, to := range map[string]string{"diskSizeGb": "sizeGb", "diskType": "type", "sourceImage": "sourceImage"} {
		if p.has(from) {
			o[to] = p[from]
		}
	}
	r := c.newResource(kindOf("disks"), name, o)
	if err := c.allow("compute.disks.create", r.Path); err != nil {
		return nil, err
	}
	if len(r.Object.labels()) > 0 {
		if err := c.allow("compute.disks.setLabels", r.Path); err != nil {
			return nil, err
		}
	}
	if c.st.get(r.Path) != nil {
		return nil, c.exists(r.Path)
	}
	if err := checkLabels(r.Object); err != nil {
		return nil, err
	}
	if err := c.fits(field, t, r); err != nil {
		return nil, err
	}
	return r, nil
}

// fits checks a new disk, and that machines of a type take disks of its type.
func (c *call) fits(field string, t machineType, r *resource) error {
	if source := r.Object.str("sourceImage"); source != "" {
		if _, err := c.imageAt(field+".initializeParams.sourceImage", source); err != nil {
			return err
		}
	}
	if err := prepareDisk(c, r); err != nil {
		return err
	}
	kind := nameOf(r.Object.str("type"))
	hyper := strings.HasPrefix(kind, "hyperdisk")
	if hyper != t.family.hyperdisk && (t.family.hyperdisk || !t.family.nvme) {
		return refuse("invalid", "[%s] features are not compatible for creating instance: %s disks cannot be used by %s.", kind, kind, t.name)
	}
	return nil
}
