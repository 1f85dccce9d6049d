// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// volume is an EBS volume.
type volume struct {
	ID, Zone, Type, Snapshot string
	GB, IOPS, Throughput     int
	Encrypted                bool
	Instance, Device         string // empty: not attached
	DeleteOnTermination      bool
	Created                  time.Time
	Tags                     tags
}

func ec2Parts() map[string]operation {
	out := about(ec2, fault.Disk, map[string]func(*call) (fields, error){
		"DescribeVolumes": describeVolumes, "CreateVolume": createVolume, "DeleteVolume": deleteVolume,
	})
	maps.Copy(out, about(ec2, "", map[string]func(*call) (fields, error){
		"CreateTags": createTags, "DeleteTags": deleteTags, "DescribeTags": describeTags,
	}))
	// Tags change what exists, whatever their operation is called.
	for _, name := range []string{"ec2:CreateTags", "ec2:DeleteTags"} {
		op := out[name]
		op.verb = fault.Update
		out[name] = op
	}
	return out
}

// limits of sizes in GiB by type.
func sizeLimits(kind string) (least, most int) {
	switch kind {
	case "io1", "io2":
		return 4, 16384
	case "st1", "sc1":
		return 125, 16384
	case "standard":
		return 1, 1024
	}
	return 1, 16384
}

func checkVolume(v *volume) error {
	least, most := sizeLimits(v.Type)
	switch {
	case v.GB < least || v.GB > most:
		return refuse("InvalidParameterValue", "Volume size must be between %d and %d GiB for volume type %s", least, most, v.Type)
	case (v.Type == "io1" || v.Type == "io2") && v.IOPS == 0:
		return refuse("MissingParameter", "The parameter iops must be specified for %s volumes.", v.Type)
	case v.Type == "gp3" && v.IOPS != 0 && (v.IOPS < 3000 || v.IOPS > 16000):
		return refuse("InvalidParameterValue", "Volume iops of %d is invalid; it must be between 3000 and 16000 for gp3", v.IOPS)
	}
	if v.Type == "gp3" {
		v.IOPS, v.Throughput = max(v.IOPS, 3000), max(v.Throughput, 125)
	}
	return nil
}

func (c *call) volume(id string) (*volume, error) {
	if v := c.st.volumes.ByID[id]; v != nil {
		return v, nil
	}
	if err := checkID(id, "vol", "InvalidVolumeID.Malformed"); err != nil {
		return nil, err
	}
	return nil, refuse("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
}

func createVolume(c *call) (fields, error) {
	v := &volume{
		ID: newID("vol"), Zone: c.params.String("AvailabilityZone"), Type: c.params.String("VolumeType"), GB: c.params.Int("Size", 0),
		IOPS: c.params.Int("Iops", 0), Throughput: c.params.Int("Throughput", 0), Encrypted: c.params.Bool("Encrypted", false),
		Snapshot: c.params.String("SnapshotId"), Created: c.now,
	}
	v.Type = cmp.Or(v.Type, "gp2")
	if !slices.Contains(c.zones(), v.Zone) {
		return nil, refuse("InvalidZone.NotFound", "The zone '%s' does not exist.", v.Zone)
	}
	if err := checkVolume(v); err != nil {
		return nil, err
	}
	tagged, err := c.specifiedTags("volume")
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	v.Tags = tagged["volume"]
	c.st.volumes.Put(v.ID, v)
	c.auditVolume(v)
	return showVolume(v), nil
}

func deleteVolume(c *call) (fields, error) {
	v, err := c.volume(c.params.String("VolumeId"))
	if err != nil {
		return nil, err
	}
	if v.Instance != "" {
		return nil, refuse("VolumeInUse", "Volume %s is currently attached to %s", v.ID, v.Instance)
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	c.st.volumes.Remove(v.ID)
	c.auditGone(v.ID)
	return fields{"return", true}, nil
}

func describeVolumes(c *call) (fields, error) {
	all, err := named(c, c.st.volumes, "VolumeId", func(ids []string) error {
		_, err := c.volume(ids[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	return described(c, "volumeSet", ec2Pages(1000), all, func(v *volume) values {
		attached := "attached"
		if v.Instance == "" {
			attached = ""
		}
		return values{
			"volume-id": {v.ID}, "status": {v.state()}, "size": {fmt.Sprint(v.GB)}, "volume-type": {v.Type}, "availability-zone": {v.Zone},
			"encrypted": {fmt.Sprint(v.Encrypted)}, "snapshot-id": {v.Snapshot}, "attachment.instance-id": {v.Instance}, "attachment.device": {v.Device},
			"attachment.status": {attached}, "attachment.delete-on-termination": {fmt.Sprint(v.DeleteOnTermination)},
		}.tagged(v.Tags)
	}, showVolume)
}

func (v *volume) state() string {
	if v.Instance == "" {
		return "available"
	}
	return "in-use"
}

func showVolume(v *volume) fields {
	attachments := items{}
	if v.Instance != "" {
		attachments = items{fields{
			"volumeId", v.ID, "instanceId", v.Instance, "device", v.Device, "status", "attached", "attachTime", v.Created,
			"deleteOnTermination", v.DeleteOnTermination,
		}}
	}
	out := fields{
		"volumeId", v.ID, "size", v.GB, "snapshotId", v.Snapshot, "availabilityZone", v.Zone, "status", v.state(), "createTime", v.Created,
		"attachmentSet", attachments, "volumeType", v.Type, "encrypted", v.Encrypted, "multiAttachEnabled", false, "tagSet", tagSet(v.Tags),
	}
	if v.IOPS > 0 {
		out = append(out, "iops", v.IOPS)
	}
	if v.Throughput > 0 {
		out = append(out, "throughput", v.Throughput)
	}
	return out
}
