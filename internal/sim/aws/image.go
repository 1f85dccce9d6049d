// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// image is an AMI.
type image struct {
	ID, Name, Description, Owner string
	Arch                         string
	RootDevice                   string
	RootGB                       int
	Snapshot                     string
	Public                       bool
	State                        string
	Created                      time.Time
	Tags                         tags
}

// The owner of the official Talos images, and of another distribution.
const (
	talosOwner = "540036508848"
	otherOwner = "099720109477"
)

// visible reports whether the account may use an image.
func (c *call) visible(i *image) bool { return i.Public || i.Owner == c.account }

func (c *call) image(id string) (*image, error) {
	if i := c.st.images.ByID[id]; i != nil && c.visible(i) {
		return i, nil
	}
	if err := checkID(id, "ami", "InvalidAMIID.Malformed"); err != nil {
		return nil, err
	}
	return nil, refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
}

func describeImages(c *call) (fields, error) {
	var all []*image
	if ids := c.params.List("ImageId"); len(ids) > 0 {
		for _, id := range ids {
			i, err := c.image(id)
			if err != nil {
				return nil, err
			}
			all = append(all, i)
		}
	} else {
		all = c.st.images.Where(c.visible)
	}
	if owners := c.params.List("Owner"); len(owners) > 0 {
		all = slices.DeleteFunc(all, func(i *image) bool {
			return !slices.Contains(owners, i.Owner) && (!slices.Contains(owners, "self") || i.Owner != c.account)
		})
	}
	return described(c, "imagesSet", pages{size: "MaxResults", token: "NextToken", least: 1, most: 1000}, all, imageValues, showImage)
}

func imageValues(i *image) values {
	return values{
		"image-id": {i.ID}, "name": {i.Name}, "description": {i.Description}, "owner-id": {i.Owner}, "architecture": {i.Arch},
		"is-public": {fmt.Sprint(i.Public)}, "state": {i.State}, "virtualization-type": {"hvm"}, "root-device-type": {"ebs"},
		"root-device-name": {i.RootDevice}, "image-type": {"machine"}, "ena-support": {"true"}, "hypervisor": {"xen"},
		"creation-date": {text(i.Created)}, "platform": nil, "owner-alias": nil,
	}.tagged(i.Tags)
}

func showImage(i *image) fields {
	return fields{
		"imageId", i.ID, "imageLocation", i.Owner + "/" + i.Name, "imageState", i.State, "imageOwnerId", i.Owner, "isPublic", i.Public,
		"architecture", i.Arch, "imageType", "machine", "name", i.Name, "description", optional(i.Description),
		"rootDeviceType", "ebs", "rootDeviceName", i.RootDevice, "virtualizationType", "hvm", "hypervisor", "xen", "enaSupport", true,
		"bootMode", optional(bootMode(i)), "platformDetails", "Linux/UNIX", "usageOperation", "RunInstances", "creationDate", i.Created,
		"blockDeviceMapping", items{fields{"deviceName", i.RootDevice, "ebs", fields{
			"snapshotId", i.Snapshot, "volumeSize", i.RootGB, "deleteOnTermination", true, "volumeType", "gp2", "encrypted", false,
		}}},
		"tagSet", tagSet(i.Tags),
	}
}

func bootMode(i *image) string {
	if i.Arch == arm {
		return "uefi"
	}
	return ""
}

// talosImages are the images of a version as its makers publish them.
func talosImages(region, version string) (out []*image) {
	for _, arch := range []struct{ name, ec2 string }{{"amd64", x86}, {"arm64", arm}} {
		name := strings.Join([]string{"talos", version, region, arch.name}, "-")
		out = append(out, &image{
			ID: derivedID("ami", name), Name: name, Description: fmt.Sprintf("Talos AMI %s %s %s", version, arch.name, region), Owner: talosOwner,
			Arch: arch.ec2, RootDevice: "/dev/xvda", RootGB: 20, Snapshot: derivedID("snap", name), Public: true, State: "available",
		})
	}
	return out
}
