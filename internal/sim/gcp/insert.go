// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const (
	maxMetadataValue = 256 << 10
	maxMetadata      = 512 << 10
	maxTags          = 64
)

var (
	metadataKey = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	networkTag  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// order is an instance that is to be created, after all checks.
type order struct {
	instance *resource
	kind     machineType
	disks    []orderedDisk
	subnet   *resource
}

// simulatedFields are those of an instance that have an effect here.
func simulatedFields() []string {
	return []string{
		"name", "description", "machineType", "disks", "networkInterfaces", "labels", "tags", "metadata", "serviceAccounts", "scheduling", "canIpForward",
		"shieldedInstanceConfig", "deletionProtection", "hostname",
	}
}

// insertInstance begins to create an instance.
func insertInstance(c *call) (any, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	k, name := kindOf("instances"), c.body.str("name")
	path := c.path(k.collection, name)
	if err := c.allowCreate(k, path); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, required("resource.name")
	}
	if c.st.get(path) != nil {
		return nil, c.exists(path)
	}
	o := &order{instance: c.newResource(k, name, c.body)}
	for _, step := range []func(*order) error{c.orderFields, c.orderType, c.orderDisks, c.orderNetwork, c.orderSettings, c.orderAccount} {
		if err := step(o); err != nil {
			return nil, err
		}
	}
	return c.placeOrder(o)
}

// placeOrder creates the instance with its disks. It is provisioned by the operation.
func (c *call) placeOrder(o *order) (any, error) {
	i := o.instance
	if err := c.leaseAddress(o); err != nil {
		return nil, err
	}
	i.Object["status"], i.Visible = provisioning, c.now.Add(c.lag())
	var disks []any
	for _, d := range o.disks {
		if d.created {
			d.disk.Object["lastAttachTimestamp"] = stamp(c.now)
			c.st.put(d.disk)
			c.auditResource(d.disk)
			i.Created = append(i.Created, d.disk.Path)
		}
		disks = append(disks, d.attached)
	}
	i.Object["disks"] = disks
	c.st.put(i)
	c.auditResource(i)
	return c.begin(i.Path, i.id(), nil)
}

func (c *call) orderFields(o *order) error {
	for field := range c.body {
		if !slices.Contains(simulatedFields(), field) && !slices.Contains(outputs(), field) {
			return notSimulated("resource." + field)
		}
	}
	for _, name := range []string{"sourceInstanceTemplate", "sourceMachineImage"} {
		if c.query.Get(name) != "" {
			return notSimulated(name)
		}
	}
	return checkLabels(o.instance.Object)
}

func (c *call) orderType(o *order) (err error) {
	value, zone := o.instance.Object.str("machineType"), c.params["zone"]
	if value == "" {
		return invalid("resource.machineType", "", "Machine type is not specified.")
	}
	path, ok := c.pathOf(value)
	if !ok || collectionOf(path) != "machineTypes" {
		return invalid("resource.machineType", value, "The URL is malformed.")
	}
	if locationOf(path) != zone {
		return invalid("resource.machineType", value, "Machine type specified '%s' is in a different scope than the instance.", c.full(path))
	}
	if o.kind, err = c.typeNamed("resource.machineType", zone, nameOf(path)); err != nil {
		return err
	}
	o.instance.Object["machineType"] = c.link(path)
	o.instance.Object["cpuPlatform"] = "Unknown CPU Platform"
	return nil
}

func (c *call) orderDisks(o *order) error {
	all := o.instance.Object.subs("disks")
	if len(all) == 0 {
		return invalid("resource.disks", "", "No disks are specified.")
	}
	devices, names := map[string]bool{}, map[string]bool{}
	for index, d := range all {
		if d.bool("boot") != (index == 0) {
			return invalid(fmt.Sprintf("resource.disks[%d].boot", index), fmt.Sprint(d.bool("boot")), "Boot disk must be the first disk attached to the instance.")
		}
		one, err := c.orderDisk(o.instance.name(), o.kind, index, d)
		if err != nil {
			return err
		}
		device := one.attached.str("deviceName")
		if devices[device] || names[one.disk.Path] {
			return invalid(fmt.Sprintf("resource.disks[%d].deviceName", index), device, "The device name '%s' is already in use.", device)
		}
		devices[device], names[one.disk.Path] = true, true
		o.disks = append(o.disks, one)
	}
	if arch, _ := o.disks[0].disk.Object["architecture"].(string); arch != "" && arch != o.kind.family.arch {
		return invalid("resource.machineType", o.kind.name, "The architecture %s of the boot disk is not compatible with the architecture %s of the machine type.", arch, o.kind.family.arch)
	}
	return nil
}

// orderNetwork checks the interface, of which there is one.
func (c *call) orderNetwork(o *order) error {
	all := o.instance.Object.subs("networkInterfaces")
	switch {
	case len(all) == 0:
		return invalid("resource.networkInterfaces", "", "At least one network interface is required.")
	case len(all) > 1:
		return notSimulated("resource.networkInterfaces[1]")
	}
	n, region := all[0], regionOf(c.params["zone"])
	for key := range n {
		if !slices.Contains([]string{"network", "subnetwork", "networkIP", "accessConfigs", "nicType", "stackType", "name", "fingerprint"}, key) {
			return notSimulated("resource.networkInterfaces[0]." + key)
		}
	}
	s, err := c.orderSubnetwork(n, region)
	if err != nil {
		return err
	}
	if err := c.allow("compute.subnetworks.use", s.Path); err != nil {
		return err
	}
	n["kind"], n["name"], n["stackType"] = "compute#networkInterface", "nic0", "IPV4_ONLY"
	n["fingerprint"] = fingerprint(o.instance.id())
	o.instance.Object["networkInterfaces"] = []any{n}
	if err := c.orderPublic(n, s); err != nil {
		return err
	}
	o.subnet = s
	if n.str("networkIP") != "" {
		return c.freeAddress("resource.networkInterfaces[0].networkIP", s, n.str("networkIP"))
	}
	return nil
}

// leaseAddress gives the interface of an order an address, unless it has one.
func (c *call) leaseAddress(o *order) error {
	n := o.instance.Object.subs("networkInterfaces")[0]
	if n.str("networkIP") != "" {
		return nil
	}
	if !c.Hosts {
		return refusal{status: http.StatusServiceUnavailable, reason: "backendError", message: "The service is currently unavailable."}
	}
	address, err := c.Options.Datacenter.Lease(o.instance.id(), subnetID(o.subnet))
	if errors.Is(err, datacenter.ErrExhausted) {
		return refuse("IP_SPACE_EXHAUSTED", "IP space of '%s' is exhausted.", c.full(o.subnet.Path))
	}
	if err != nil {
		return err
	}
	n["networkIP"] = address.String()
	return nil
}

// orderSubnetwork returns the subnetwork of an interface: its own, or that of an automatic
// network.
func (c *call) orderSubnetwork(n object, region string) (*resource, error) {
	const field = "resource.networkInterfaces[0]"
	if n.has("subnetwork") {
		s, err := c.reference(n, "subnetwork", field+".subnetwork", "subnetworks", "regions/"+region)
		if err != nil {
			return nil, err
		}
		if n.has("network") {
			network, err := c.reference(n, "network", field+".network", "networks", "global")
			if err != nil {
				return nil, err
			}
			if c.link(network.Path) != s.Object.str("network") {
				return nil, invalid(field+".subnetwork", n.str("subnetwork"), "The subnetwork must belong to the specified network.")
			}
		}
		n["network"] = s.Object.str("network")
		return s, nil
	}
	if !n.has("network") {
		n["network"] = c.link("global/networks/default")
	}
	network, err := c.reference(n, "network", field+".network", "networks", "global")
	if err != nil {
		return nil, err
	}
	if !network.Object.bool("autoCreateSubnetworks") {
		return nil, invalid(field, "", "Subnetwork should be specified for custom subnetmode network")
	}
	n["subnetwork"] = c.link("regions/" + region + "/subnetworks/" + network.name())
	return c.reference(n, "subnetwork", field+".subnetwork", "subnetworks", "regions/"+region)
}

// orderPublic checks the public address that an interface asks for.
func (c *call) orderPublic(n object, s *resource) error {
	configs := n.subs("accessConfigs")
	switch {
	case len(configs) == 0:
		return nil
	case len(configs) > 1:
		return invalid("resource.networkInterfaces[0].accessConfigs", "", "At most one access config currently supported.")
	case configs[0].str("natIP") != "":
		return notSimulated("resource.networkInterfaces[0].accessConfigs[0].natIP")
	}
	if err := c.allow("compute.subnetworks.useExternalIp", s.Path); err != nil {
		return err
	}
	configs[0].fill(object{"kind": "compute#accessConfig", "type": "ONE_TO_ONE_NAT", "name": "External NAT", "networkTier": "PREMIUM"})
	n["accessConfigs"] = anys(configs)
	return nil
}

func (c *call) orderSettings(o *order) error {
	i := o.instance.Object
	if i.has("metadata") {
		if err := c.allow("compute.instances.setMetadata", o.instance.Path); err != nil {
			return err
		}
		if err := checkMetadata("resource.metadata", i.sub("metadata")); err != nil {
			return err
		}
		i["metadata"] = i.sub("metadata").without("fingerprint", "kind")
	}
	if tags := i.sub("tags"); len(tags.strs("items")) > 0 {
		if err := c.allow("compute.instances.setTags", o.instance.Path); err != nil {
			return err
		}
		if err := checkTags(tags); err != nil {
			return err
		}
		i["tags"] = object{"items": anys(tags.strs("items"))}
	}
	if i.has("hostname") {
		return notSimulated("resource.hostname")
	}
	shielded := object{"enableSecureBoot": false, "enableVtpm": true, "enableIntegrityMonitoring": true}
	maps.Copy(shielded, i.sub("shieldedInstanceConfig"))
	if shielded.bool("enableSecureBoot") && !o.uefi() {
		return invalid("resource.shieldedInstanceConfig", "{ \"enableSecureBoot\": true }", "Shielded VM Config can only be set when using a UEFI-compatible disk.")
	}
	i["shieldedInstanceConfig"] = shielded
	i.fill(object{"canIpForward": false, "deletionProtection": false, "startRestricted": false})
	return orderScheduling(i)
}

func (o *order) uefi() bool {
	return slices.ContainsFunc(o.disks[0].disk.Object.subs("guestOsFeatures"), func(f object) bool { return f.str("type") == "UEFI_COMPATIBLE" })
}

func orderScheduling(i object) error {
	s := object{"onHostMaintenance": "MIGRATE", "automaticRestart": true, "preemptible": false, "provisioningModel": "STANDARD"}
	for key, value := range i.sub("scheduling") {
		switch key {
		case "automaticRestart", "onHostMaintenance":
			s[key] = value
		case "preemptible", "provisioningModel":
			if fmt.Sprint(value) != fmt.Sprint(s[key]) {
				return notSimulated("resource.scheduling." + key)
			}
		default:
			return notSimulated("resource.scheduling." + key)
		}
	}
	i["scheduling"] = s
	return nil
}

// orderAccount checks the service account of the machine.
func (c *call) orderAccount(o *order) error {
	all := o.instance.Object.subs("serviceAccounts")
	switch {
	case len(all) == 0:
		return nil
	case len(all) > 1:
		return invalid("resource.serviceAccounts", "", "Only one service account per VM is currently supported.")
	}
	email := all[0].str("email")
	if email == "default" {
		email = c.number + "-compute@developer.gserviceaccount.com"
	}
	if len(all[0].strs("scopes")) == 0 {
		return invalid("resource.serviceAccounts[0].scopes", "", "At least one scope is required.")
	}
	if err := c.allow("compute.instances.setServiceAccount", o.instance.Path); err != nil {
		return err
	}
	may := c.who.may("iam.serviceAccounts.actAs")
	if c.st.principals.ByID[email] == nil || !may {
		return refuse("SERVICE_ACCOUNT_ACCESS_DENIED", "The user does not have access to service account '%s'.  User: '%s'.  Ask a project owner to grant you the iam.serviceAccountUser role on the service account", email, c.who.Email)
	}
	o.instance.Object["serviceAccounts"] = []any{object{"email": email, "scopes": all[0]["scopes"]}}
	return nil
}

func checkMetadata(field string, m object) error {
	total, seen := 0, map[string]bool{}
	for index, item := range m.subs("items") {
		key, value := item.str("key"), item.str("value")
		at := fmt.Sprintf("%s.items[%d]", field, index)
		switch {
		case !metadataKey.MatchString(key):
			return invalid(at+".key", key, "Must be a match of regex '[a-zA-Z0-9-_]{1,128}'")
		case seen[key]:
			return invalid(at, key, "Metadata has duplicate key: %s", key)
		case len(value) > maxMetadataValue:
			return invalid(at+".value", strings.ToValidUTF8(value[:16], "")+"…", "Metadata value is too long: %d bytes, at most %d.", len(value), maxMetadataValue)
		}
		seen[key] = true
		total += len(key) + len(value)
	}
	if total > maxMetadata {
		return invalid(field, fmt.Sprint(total), "Metadata is too large: %d bytes, at most %d.", total, maxMetadata)
	}
	return nil
}

func checkTags(t object) error {
	items := t.strs("items")
	if len(items) > maxTags {
		return invalid("resource.tags.items", fmt.Sprint(len(items)), "At most %d tags are allowed.", maxTags)
	}
	for index, tag := range items {
		if !networkTag.MatchString(tag) {
			return invalid(fmt.Sprintf("resource.tags.items[%d]", index), tag, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
		}
	}
	return nil
}
