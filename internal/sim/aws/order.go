// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

const (
	maxUserData   = 16384
	maxInterfaces = 1 // further ones are not simulated
	rootType      = "gp2"
)

// order checks the parameters of RunInstances.
func (c *call) order() (o order, err error) {
	for _, step := range []func(*order) error{
		c.orderSupported, c.orderCount, c.orderImage, c.orderType, c.orderNetwork, c.orderAddress, c.orderDisks, c.orderUserData, c.orderRest,
	} {
		if err := step(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// notSimulated are parameters of RunInstances that have an effect on the platform and none
// here: to ignore them would hide defects.
func notSimulated() []string {
	return []string{
		"AdditionalInfo", "CapacityReservationSpecification", "CpuOptions", "ElasticGpuSpecification", "ElasticInferenceAccelerator", "EnclaveOptions",
		"HibernationOptions", "InstanceMarketOptions", "KernelId", "LaunchTemplate", "LicenseSpecification", "Placement.GroupId", "Placement.GroupName",
		"Placement.HostId", "Placement.HostResourceGroupArn", "Placement.PartitionNumber", "RamdiskId", "SecurityGroup",
	}
}

func (c *call) orderSupported(*order) error {
	for _, name := range notSimulated() {
		if c.params.Has(name) {
			return refuse("UnsupportedOperation", "The simulated platform does not have the parameter %s", name)
		}
	}
	return nil
}

func (c *call) orderCount(o *order) error {
	least, most := c.params.Int("MinCount", 0), c.params.Int("MaxCount", 0)
	switch {
	case least < 1:
		return refuse("InvalidParameterValue", "Value (%d) for parameter minCount is invalid. Minimum value is 1.", least)
	case most < least:
		return refuse("InvalidParameterCombination", "Value (%d) for parameter minCount is greater than maxCount (%d).", least, most)
	case most > 1000:
		return refuse("InstanceLimitExceeded", "You have requested more instances (%d) than your current instance limit allows.", most)
	}
	o.count = most
	return nil
}

func (c *call) orderImage(o *order) (err error) {
	if !c.params.Has("ImageId") {
		return refuse("MissingParameter", "The request must contain the parameter ImageId")
	}
	if o.image, err = c.image(c.params.String("ImageId")); err != nil {
		return err
	}
	if o.image.State != "available" {
		return refuse("InvalidAMIID.Unavailable", "The image ID '%s' is not available", o.image.ID)
	}
	return nil
}

func (c *call) orderType(o *order) error {
	name := c.params.String("InstanceType")
	name = cmp.Or(name, "m1.small")
	var known bool
	if o.kind, known = c.typeNamed(name); !known {
		return refuse("InvalidParameterValue", "Invalid value '%s' for InstanceType.", name)
	}
	if o.kind.Arch != o.image.Arch {
		return refuse("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again. You can use 'describe-instance-types' or 'describe-images' to discover the architecture of the instance type or AMI.", o.kind.Arch, o.image.Arch)
	}
	return nil
}

// orderNetwork reads the subnet and the groups, which are in the interface if there is one.
func (c *call) orderNetwork(o *order) (err error) {
	p, groups := c.params, "SecurityGroupId"
	all := c.params.Each("NetworkInterface")
	switch {
	case len(all) > maxInterfaces:
		return refuse("AttachmentLimitExceeded", "The simulated platform has one interface for each instance")
	case len(all) == 1 && (c.params.Has("SubnetId") || c.params.Has("SecurityGroupId")):
		return refuse("InvalidParameterCombination", "Network interfaces and an instance-level subnet ID may not be specified on the same request")
	case len(all) == 1:
		p = all[0]
	}
	if len(all) == 1 && p.Int("DeviceIndex", -1) != 0 {
		return refuse("InvalidParameterValue", "Each network interface requires a device index.")
	}
	switch id := p.String("SubnetId"); {
	case id == "":
		o.subnet = c.defaultSubnet(o.kind)
	case c.st.subnets.ByID[id] == nil:
		return subnetMissing([]string{id})
	default:
		o.subnet = c.st.subnets.ByID[id]
	}
	if o.subnet == nil {
		return refuse("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	if zone := c.params.String("Placement.AvailabilityZone"); zone != "" && zone != o.subnet.Zone {
		return refuse("InvalidParameterValue", "The zone '%s' of the placement is not that of subnet '%s'", zone, o.subnet.ID)
	}
	if (p.Int("Ipv6AddressCount", 0) > 0 || p.Has("Ipv6Addresses") || p.Has("Ipv6Address")) && !o.subnet.IPv6.IsValid() {
		return refuse("InvalidParameterValue", "Subnet '%s' has no IPv6 CIDR block", o.subnet.ID)
	}
	o.public = p.Bool("AssociatePublicIpAddress", o.subnet.Public)
	o.interfaceDeleted, o.sourceDest = p.Bool("DeleteOnTermination", true), true
	o.interfaceText, o.address = p.String("Description"), p.String("PrivateIpAddress")
	return c.orderGroups(o, p.List(groups))
}

// defaultSubnet is one of the default VPC, in the zone of the request or in one that offers
// the type.
func (c *call) defaultSubnet(t instanceType) *subnet {
	zone := c.params.String("Placement.AvailabilityZone")
	for _, s := range c.st.subnets.All() {
		if c.st.vpcs.ByID[s.VPC].Default && t.offered(s.Zone) && (zone == "" || zone == s.Zone) {
			return s
		}
	}
	return nil
}

func (c *call) orderGroups(o *order, ids []string) error {
	if len(ids) == 0 {
		for _, g := range c.st.groups.Where(func(g *group) bool { return g.Name == "default" && g.VPC == o.subnet.VPC }) {
			ids = append(ids, g.ID)
		}
	}
	for _, id := range ids {
		g, err := c.group(id)
		if err != nil {
			return err
		}
		if g.VPC != o.subnet.VPC {
			return refuse("InvalidParameter", "Security group %s and subnet %s belong to different networks.", g.ID, o.subnet.ID)
		}
	}
	if len(ids) > 5 {
		return refuse("SecurityGroupsPerInterfaceLimitExceeded", "The maximum number of security groups per interface has been reached.")
	}
	o.groups = ids
	if !o.kind.offered(o.subnet.Zone) {
		return c.notOffered(o)
	}
	return nil
}

func (c *call) notOffered(o *order) error {
	var others []string
	for _, z := range c.zones() {
		if o.kind.offered(z) {
			others = append(others, z)
		}
	}
	return refuse("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s). Please retry your request by not specifying an Availability Zone or choosing %s.",
		o.kind.Name, o.subnet.Zone, strings.Join(others, ", "))
}

func (c *call) orderAddress(o *order) error {
	if c.st.free(o.subnet) < o.count {
		return refuse("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", o.subnet.ID)
	}
	if o.address == "" {
		return nil
	}
	address, err := netip.ParseAddr(o.address)
	if err != nil || !o.subnet.CIDR.Contains(address) {
		return refuse("InvalidParameterValue", "Address %s does not fall within the subnet's address range", o.address)
	}
	if len(c.st.interfaces.Where(func(i *networkInterface) bool { return i.Address == address })) > 0 {
		return refuse("InvalidIPAddress.InUse", "Address %s is in use.", o.address)
	}
	return nil
}

// orderDisks reads the block devices: that of the image, changed by the request, and
// further ones.
func (c *call) orderDisks(o *order) error {
	root := volume{Device: o.image.RootDevice, GB: o.image.RootGB, Type: rootType, Snapshot: o.image.Snapshot, DeleteOnTermination: true}
	seen := map[string]bool{}
	for _, p := range c.params.Each("BlockDeviceMapping") {
		device := p.String("DeviceName")
		if device == "" || seen[device] || !p.Has("Ebs") {
			return refuse("InvalidBlockDeviceMapping", "Invalid device name or device twice: '%s'", device)
		}
		seen[device] = true
		if device == root.Device {
			if err := readDisk(&root, p.Sub("Ebs")); err != nil {
				return err
			}
			continue
		}
		v := volume{Device: device, Type: rootType, DeleteOnTermination: true}
		if err := readDisk(&v, p.Sub("Ebs")); err != nil {
			return err
		}
		o.disks = append(o.disks, v)
	}
	if root.GB < o.image.RootGB {
		return refuse("InvalidBlockDeviceMapping", "Volume of size %dGB is smaller than snapshot '%s', expect size >= %dGB", root.GB, o.image.Snapshot, o.image.RootGB)
	}
	o.disks = append([]volume{root}, o.disks...)
	return nil
}

func readDisk(v *volume, p model.Params) error {
	v.GB = p.Int("VolumeSize", v.GB)
	if kind := p.String("VolumeType"); kind != "" {
		v.Type = kind
	}
	v.Encrypted = p.Bool("Encrypted", v.Encrypted)
	v.DeleteOnTermination = p.Bool("DeleteOnTermination", v.DeleteOnTermination)
	v.IOPS, v.Throughput = p.Int("Iops", 0), p.Int("Throughput", 0)
	if v.GB == 0 {
		return refuse("MissingParameter", "The request must contain the parameter size or snapshotId")
	}
	return checkVolume(v)
}

func (c *call) orderUserData(o *order) error {
	raw, err := base64.StdEncoding.DecodeString(c.params.String("UserData"))
	if err != nil {
		return refuse("InvalidParameterValue", "Invalid BASE64 encoding of user data.")
	}
	if len(raw) > maxUserData {
		return refuse("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	o.userData = raw
	return nil
}

func (c *call) orderRest(o *order) (err error) {
	if o.tags, err = c.specifiedTags("instance", "volume", "network-interface"); err != nil {
		return err
	}
	if o.profile, err = c.profile(); err != nil {
		return err
	}
	o.keyName = c.params.String("KeyName")
	if o.keyName != "" && len(c.st.keyPairs.Where(func(k *keyPair) bool { return k.Name == o.keyName })) == 0 {
		return refuse("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", o.keyName)
	}
	o.token = c.params.String("ClientToken")
	o.shutdown = "stop"
	if s := c.params.String("InstanceInitiatedShutdownBehavior"); s != "" {
		o.shutdown = s
	}
	o.protected, o.unstop = c.params.Bool("DisableApiTermination", false), c.params.Bool("DisableApiStop", false)
	o.metadata, err = readMetadata(metadataOptions{"optional", "enabled", "disabled", "disabled", 1}, c.params.Sub("MetadataOptions"))
	return err
}

func readMetadata(m metadataOptions, p model.Params) (metadataOptions, error) {
	for name, field := range map[string]*string{
		"HttpTokens": &m.Tokens, "HttpEndpoint": &m.Endpoint, "HttpProtocolIpv6": &m.IPv6, "InstanceMetadataTags": &m.Tags,
	} {
		if p.Has(name) {
			*field = p.String(name)
		}
	}
	m.HopLimit = p.Int("HttpPutResponseHopLimit", m.HopLimit)
	if m.HopLimit < 1 || m.HopLimit > 64 {
		return m, refuse("InvalidParameterValue", "The value '%d' for HttpPutResponseHopLimit is invalid. It must be between 1 and 64", m.HopLimit)
	}
	return m, nil
}
