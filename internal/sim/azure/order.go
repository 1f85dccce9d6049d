// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

var vmName = nameRule{regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`), 64}

const maxCustomData = 65535

// checkVM refuses machines that cannot be created, and completes the others.
func checkVM(c *call, r, before *record) error {
	v := r.object.(*vm)
	if before != nil && *before.state() == deleting {
		return conflicts("OperationNotAllowed", "Operation 'Update' is not allowed on VM '%s' since the VM is marked for deletion. You can only retry the Delete operation (or wait for an ongoing one to complete).", r.top().Name)
	}
	o := &order{c: c, r: r, v: v, before: before}
	if before != nil {
		o.old = &before.object.(*vm).Properties
	}
	for _, step := range []func() error{o.complete, o.hardware, o.image, o.disks, o.os, o.network, o.placement, o.security, o.capacity} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// order is a machine that is checked.
type order struct {
	c         *call
	r, before *record
	v         *vm
	old       *vmProperties // nil: the machine is new
	size      size
	source    image
}

// changed refuses to change a property that is fixed.
func (o *order) changed(target string, differs bool) error {
	if !differs {
		return nil
	}
	return conflicts("PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", target).about(target)
}

func (o *order) complete() error {
	p := &o.v.Properties
	switch {
	case p.ProximityPlacementGroup != nil:
		return notSimulated("proximity placement groups")
	case p.Priority != "" && p.Priority != "Regular":
		return notSimulated("machines of priority " + p.Priority)
	case p.AdditionalCapabilities != nil && (p.AdditionalCapabilities.UltraSSDEnabled || p.AdditionalCapabilities.HibernationEnabled):
		return notSimulated("ultra disks and hibernation")
	}
	p.InstanceView = nil
	p.VMID, p.TimeCreated = newUUID(), o.c.now.UTC().Format(time.RFC3339Nano)
	if o.old != nil {
		p.VMID, p.TimeCreated = o.old.VMID, o.old.TimeCreated
		keep(&p.HardwareProfile, o.old.HardwareProfile)
		keep(&p.StorageProfile, o.old.StorageProfile)
		keep(&p.OSProfile, o.old.OSProfile)
		keep(&p.NetworkProfile, o.old.NetworkProfile)
		keep(&p.SecurityProfile, o.old.SecurityProfile)
		keep(&p.DiagnosticsProfile, o.old.DiagnosticsProfile)
		keep(&p.AvailabilitySet, o.old.AvailabilitySet)
		keep(&o.v.Plan, o.before.top().Plan)
	}
	if id := o.v.Identity; id != nil && id.Type != "None" {
		id.PrincipalID, id.TenantID = derivedUUID("identity/"+o.v.ID), o.c.seed.Tenant
	}
	return nil
}

// purchase compares the plan of a machine with that of its image.
func (o *order) purchase() error {
	want, given := o.source.plan, o.v.Plan
	switch {
	case want == nil && given == nil:
		return nil
	case want == nil:
		return bad("VMMarketplaceInvalidInput", "Creating a virtual machine from a non Marketplace image does not need Plan information, please remove the Plan information in the request. VM: '%s'.", o.v.ID)
	case given == nil:
		return bad("VMMarketplaceInvalidInput", "Creating a virtual machine from Marketplace image or a custom image sourced from a Marketplace image requires Plan information in the request. VM: '%s'.", o.v.ID)
	case *want != *given:
		return bad("VMMarketplaceInvalidInput", "Unable to deploy from the Marketplace image or a custom image sourced from Marketplace image. The part number in the purchase information for VM '%s' is not as expected. Beware that the Plan object's properties are case-sensitive.", o.v.ID)
	case o.source.unaccepted:
		return bad("ResourcePurchaseValidationFailed", "User failed validation to purchase resources. Error message: 'You have not accepted the legal terms on this subscription: '%s' for this plan. Before the subscription can be used, you need to accept the legal terms of the image.'", o.c.seed.Subscription)
	}
	return nil
}

// keep has what a PUT leaves out stay as it is.
func keep[T any](field **T, before *T) {
	if *field == nil {
		*field = before
	}
}

func (o *order) hardware() error {
	p := o.v.Properties.HardwareProfile
	if p == nil || p.VMSize == "" {
		return missingParameter("hardwareProfile")
	}
	var known bool
	if o.size, known = o.c.sizeNamed(p.VMSize); !known {
		return invalidParameter("vmSize", "The value %s provided for the VM size is not valid. The valid sizes in the current region are: %s.", p.VMSize, o.c.sizes[0].name)
	}
	p.VMSize = o.size.name
	if o.old != nil && o.old.HardwareProfile.VMSize != p.VMSize && o.before.Power != powerDeallocated {
		return notSimulated("resizing of machines that are not deallocated")
	}
	return nil
}

func (o *order) image() error {
	s := o.v.Properties.StorageProfile
	if s == nil {
		return missingParameter("storageProfile")
	}
	if o.old != nil {
		was := o.old.StorageProfile.ImageReference
		return o.changed("imageReference", s.ImageReference != nil && was != nil && !strings.EqualFold(s.ImageReference.name(), was.name()))
	}
	if s.ImageReference == nil {
		return notSimulated("machines without an image")
	}
	var err error
	if o.source, err = o.c.imageFor(s.ImageReference); err != nil {
		return err
	}
	if err := o.purchase(); err != nil {
		return err
	}
	switch {
	case o.source.arch != o.size.arch:
		return bad("BadRequest", "Cannot create a VM of size '%s' because this VM size only supports a CPU Architecture of '%s', but an image or disk with CPU Architecture '%s' was given. Please check that the CPU Architecture of the image or disk is compatible with that of the VM size.", o.size.name, o.size.arch, o.source.arch)
	case !slices.Contains(o.size.generations, o.source.generation):
		return bad("BadRequest", "The selected VM size '%s' cannot boot Hypervisor Generation '%s'. If this was a Create operation please check that the Hypervisor Generation of the Image matches the Hypervisor Generation of the selected VM Size.", o.size.name, strings.TrimPrefix(o.source.generation, "V"))
	}
	return nil
}

func (o *order) disks() error {
	s := o.v.Properties.StorageProfile
	if o.old == nil {
		if s.OSDisk == nil {
			return missingParameter("osDisk")
		}
		if err := o.disk(s.OSDisk, "osDisk", o.v.Name+"_OsDisk_1_"+digest(o.v.Properties.VMID), "FromImage"); err != nil {
			return err
		}
		s.OSDisk.OSType, s.OSDisk.LUN = "Linux", nil
		s.OSDisk.DiskSizeGB = cmp.Or(s.OSDisk.DiskSizeGB, o.source.sizeGB)
		if s.OSDisk.DiskSizeGB < o.source.sizeGB {
			return bad("ResizeDiskError", "Disk size reduction is not supported. Current size is %d GB, requested size is %d GB.", o.source.sizeGB, s.OSDisk.DiskSizeGB).about("osDisk.diskSizeGB")
		}
	}
	seen := map[int]bool{}
	for i := range s.DataDisks {
		d := &s.DataDisks[i]
		target := fmt.Sprintf("dataDisk[%d]", i)
		switch {
		case d.LUN == nil:
			return missingParameter(target + ".lun")
		case *d.LUN < 0 || *d.LUN > 63 || seen[*d.LUN]:
			return invalidParameter(target+".lun", "The value '%d' of parameter '%s.lun' is out of range or used twice.", *d.LUN, target)
		}
		seen[*d.LUN] = true
		if err := o.disk(d, target, fmt.Sprintf("%s_lun_%d_2_%s", o.v.Name, *d.LUN, digest(o.v.Properties.VMID)), "Empty"); err != nil {
			return err
		}
	}
	if len(s.DataDisks) > o.size.maxDisks() {
		return bad("OperationNotAllowed", "The maximum number of data disks allowed to be attached to a VM of this size is %d.", o.size.maxDisks()).about("dataDisks")
	}
	if s.DataDisks == nil {
		s.DataDisks = []vmDisk{}
	}
	return nil
}

// disk checks one disk of a machine: it is created with it, or exists.
func (o *order) disk(d *vmDisk, target, name, create string) error {
	d.Name = cmp.Or(d.Name, name)
	if d.ManagedDisk == nil {
		d.ManagedDisk = &managedDisk{}
	}
	d.Caching = cmp.Or(d.Caching, "None")
	d.DeleteOption = cmp.Or(d.DeleteOption, "Detach")
	d.ManagedDisk.StorageAccountType = cmp.Or(d.ManagedDisk.StorageAccountType, "Standard_LRS")
	switch {
	case d.ToBeDetached || d.WriteAcceleratorEnabled:
		return notSimulated("forced detachment and write accelerators")
	case d.DeleteOption != "Delete" && d.DeleteOption != "Detach":
		return invalidParameter(target+".deleteOption", "The value '%s' of parameter '%s.deleteOption' is not valid.", d.DeleteOption, target)
	case strings.HasPrefix(d.ManagedDisk.StorageAccountType, "Premium") && !o.size.premium:
		return invalidParameter(target+".managedDisk.storageAccountType", "Requested operation cannot be performed because the VM size %s does not support the storage account type %s of disk '%s'. Consider updating the VM to a size that supports Premium storage.", o.size.name, d.ManagedDisk.StorageAccountType, d.Name)
	case !slices.Contains(diskTypes, d.ManagedDisk.StorageAccountType):
		return invalidParameter(target+".managedDisk.storageAccountType", "The value '%s' of parameter '%s.managedDisk.storageAccountType' is not valid.", d.ManagedDisk.StorageAccountType, target)
	}
	return o.diskSource(d, target, create)
}

func (o *order) diskSource(d *vmDisk, target, create string) error {
	id := resourceID{subscription: o.c.seed.Subscription, group: groupOf(o.v.ID), provider: "Microsoft.Compute", types: []string{"disks"}, names: []string{d.Name}}
	d.ManagedDisk.ID = cmp.Or(d.ManagedDisk.ID, id.String())
	there, disk := find[disk](o.c.st, d.ManagedDisk.ID)
	mine := disk != nil && keyOf(disk.ManagedBy) == keyOf(o.v.ID)
	switch {
	case d.CreateOption == "" && !mine:
		return missingParameter(target + ".createOption")
	case mine: // it was created with the machine, or attached before
		d.DiskSizeGB = disk.Properties.DiskSizeGB
	case d.CreateOption == "Attach":
		switch {
		case there == nil:
			return refuse(404, "NotFound", "Disk %s is not found.", d.Name).about("dataDisk")
		case disk.ManagedBy != "":
			return conflicts("AttachDiskWhileBeingDetached", "Cannot attach data disk '%s' to VM '%s' because it is attached to VM '%s'.", d.Name, o.v.Name, lastName(disk.ManagedBy))
		case len(disk.Zones) > 0 && !slices.Equal(disk.Zones, o.v.Zones):
			return bad("BadRequest", "Disk %s cannot be attached to the VM because it is not in the same zone as the VM.", d.Name)
		}
		d.DiskSizeGB = disk.Properties.DiskSizeGB
	case d.CreateOption != create:
		return invalidParameter(target+".createOption", "The value '%s' of parameter '%s.createOption' is not supported by the simulated platform.", d.CreateOption, target)
	case there != nil:
		return conflicts("ConflictingUserInput", "Disk %s already exists in resource group %s. Only CreateOption.Attach is supported.", d.Name, strings.ToUpper(id.group)).about(target)
	case create == "Empty" && (d.DiskSizeGB < 1 || d.DiskSizeGB > 32767):
		return invalidParameter(target+".diskSizeGB", "The value '%d' of parameter '%s.diskSizeGB' is out of range. Value '%d' must be between '1' and '32767' inclusive.", d.DiskSizeGB, target, d.DiskSizeGB)
	}
	return nil
}

func groupOf(id string) string {
	path, _ := parseID(id)
	return path.group
}

// os checks what the guest gets. Custom data is never returned, and cannot be changed.
func (o *order) os() error {
	p := o.v.Properties.OSProfile
	if err := o.userData(); err != nil {
		return err
	}
	if o.old != nil {
		return o.changed("osProfile.customData", p.CustomData != "")
	}
	if o.source.specialized {
		if p != nil {
			return invalidParameter("osProfile", "Parameter 'osProfile' is not allowed.")
		}
		return nil
	}
	if p == nil {
		return missingParameter("osProfile")
	}
	raw, err := base64.StdEncoding.DecodeString(p.CustomData)
	linux := p.LinuxConfiguration
	switch {
	case err != nil:
		return invalidParameter("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.")
	case len(raw) > maxCustomData:
		return invalidParameter("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.")
	case p.ComputerName == "" || len(p.ComputerName) > 64:
		return missingParameter("osProfile.computerName")
	case p.AdminUsername == "":
		return missingParameter("osProfile.adminUsername")
	case slices.Contains([]string{"admin", "administrator", "root", "guest", "user", "test"}, strings.ToLower(p.AdminUsername)):
		return invalidParameter("adminUsername", "The Admin Username specified is not allowed.")
	case linux != nil && linux.DisablePasswordAuthentication && (linux.SSH == nil || len(linux.SSH.PublicKeys) == 0):
		return invalidParameter("linuxConfiguration", "Authentication using either SSH or by user name and password must be enabled in Linux profile.")
	case (linux == nil || !linux.DisablePasswordAuthentication) && p.AdminPassword == "":
		return missingParameter("adminPassword")
	case p.AdminPassword != "" && !strong(p.AdminPassword):
		return invalidParameter("adminPassword", "The supplied password must be between 6-72 characters long and must satisfy at least 3 of password complexity requirements from the following: Contains an uppercase character, Contains a lowercase character, Contains a numeric digit, Contains a special character, Control characters are not allowed")
	}
	if err := linux.checkKeys(p.AdminUsername); err != nil {
		return err
	}
	o.r.CustomData = raw
	p.CustomData, p.AdminPassword, p.Secrets = "", "", []struct{}{}
	if p.AllowExtensionOperations == nil {
		p.AllowExtensionOperations = new(true)
	}
	return nil
}

func (l *linuxConfiguration) checkKeys(user string) error {
	if l == nil || l.SSH == nil {
		return nil
	}
	for _, k := range l.SSH.PublicKeys {
		if err := checkKey(k, user); err != nil {
			return err
		}
	}
	return nil
}

func checkKey(k sshKey, user string) error {
	if !strings.HasPrefix(k.KeyData, "ssh-rsa ") && !strings.HasPrefix(k.KeyData, "ssh-ed25519 ") {
		return invalidParameter("linuxConfiguration.ssh.publicKeys.keyData", "The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.")
	}
	if want := "/home/" + user + "/.ssh/authorized_keys"; k.Path != want {
		return invalidParameter("linuxConfiguration.ssh.publicKeys.path", "Destination path for SSH public keys is currently limited to its default value %s due to a known issue in Linux provisioning agent.", want)
	}
	return nil
}

func strong(password string) bool {
	classes := 0
	for _, set := range []string{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789", "!@#$%^&*()-_=+[]{};:'\",.<>/?\\|`~ "} {
		if strings.ContainsAny(password, set) {
			classes++
		}
	}
	return len(password) >= 6 && len(password) <= 72 && classes >= 3
}

func (o *order) userData() error {
	p := &o.v.Properties
	raw, err := base64.StdEncoding.DecodeString(p.UserData)
	if err != nil || len(raw) > maxCustomData {
		return invalidParameter("userData", "User data must be in Base64 encoding and with a maximum length of 87380 characters.")
	}
	if p.UserData != "" || o.old == nil {
		o.r.UserData = []byte(p.UserData)
	}
	p.UserData = ""
	return nil
}

func (o *order) network() error {
	p := o.v.Properties.NetworkProfile
	if p == nil || len(p.NetworkInterfaces) == 0 {
		return missingParameter("networkProfile")
	}
	if len(p.NetworkInterfaces) > 1 {
		return notSimulated("machines with several interfaces")
	}
	to := &p.NetworkInterfaces[0]
	r, n := find[nic](o.c.st, to.ID)
	switch {
	case n == nil:
		return refuse(404, "NotFound", "Resource %s not found.", to.ID).about("networkInterface")
	case *r.state() == failed || o.c.failsPart(r):
		return conflicts("ReferencedResourceNotProvisioned", "Cannot proceed with operation because resource %s used by resource %s is not in Succeeded state. Resource is in Failed state.", to.ID, o.v.ID)
	case n.Properties.VirtualMachine != nil && n.Properties.VirtualMachine.key() != keyOf(o.v.ID):
		return bad("NicInUse", "Network Interface %s is used by existing resource %s.", to.ID, n.Properties.VirtualMachine.ID)
	case o.old != nil && keyOf(o.old.NetworkProfile.NetworkInterfaces[0].ID) != keyOf(to.ID):
		return notSimulated("changes of the interface of a machine")
	}
	to.ID = n.ID
	if to.Properties == nil {
		to.Properties = &interfaceRefProperties{}
	}
	to.Properties.DeleteOption = cmp.Or(to.Properties.DeleteOption, "Detach")
	if to.Properties.DeleteOption != "Delete" && to.Properties.DeleteOption != "Detach" {
		return invalidParameter("networkInterface.deleteOption", "The value '%s' is not a delete option.", to.Properties.DeleteOption)
	}
	if n.Properties.EnableAcceleratedNetworking && !o.size.accelerated {
		return bad("VMSizeIsNotPermittedToEnableAcceleratedNetworking", "VM size %s is not permitted to enable accelerated networking on network interface %s.", o.size.name, to.ID)
	}
	return nil
}

func (o *order) placement() error {
	p := &o.v.Properties
	if p.AvailabilitySet != nil {
		r, set := find[availabilitySet](o.c.st, p.AvailabilitySet.ID)
		switch {
		case r == nil:
			return refuse(404, "NotFound", "The availability set '%s' cannot be found.", p.AvailabilitySet.ID)
		case len(o.v.Zones) > 0:
			return invalidParameter("zones", "A virtual machine cannot be in an availability set and in a zone.")
		case set.SKU == nil || set.SKU.Name != "Aligned":
			return conflicts("OperationNotAllowed", "Addition of a managed disk to a VM with blob based disks is not supported: the availability set is not aligned.")
		}
		p.AvailabilitySet.ID = r.top().ID
	}
	if o.old != nil {
		return o.changed("availabilitySet.id", p.AvailabilitySet.key() != o.old.AvailabilitySet.key())
	}
	if len(o.v.Zones) > 1 {
		return invalidParameter("zones", "A virtual machine can be in one zone only.")
	}
	for _, z := range o.v.Zones {
		if !slices.Contains(o.size.zones, z) {
			return o.c.notAvailable(o.size)
		}
	}
	if slices.Contains(o.c.seed.Restricted, o.size.name) {
		return o.c.notAvailable(o.size)
	}
	return nil
}

// notAvailable refuses a size that the subscription cannot have there.
func (c *call) notAvailable(s size) error {
	return conflicts("SkuNotAvailable", "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: %s' is currently not available in location '%s'. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.", s.name, c.seed.Location)
}

func (o *order) security() error {
	p := o.v.Properties.SecurityProfile
	switch {
	case p == nil:
	case p.EncryptionAtHost && !o.c.seed.EncryptionAtHost:
		return invalidParameter("securityProfile.encryptionAtHost", "The property 'securityProfile.encryptionAtHost' is not valid because the 'Microsoft.Compute/EncryptionAtHost' feature is not enabled for this subscription.")
	case p.EncryptionAtHost && !o.size.encrypts:
		return invalidParameter("securityProfile.encryptionAtHost", "The VM size %s does not support encryption at host.", o.size.name)
	case p.SecurityType == "ConfidentialVM":
		return notSimulated("confidential machines")
	}
	return nil
}

// capacity refuses a machine for which the quota has no room. Capacity itself is found out
// when the machine is allocated.
func (o *order) capacity() error {
	if o.old != nil {
		return nil
	}
	for _, u := range o.c.usages() {
		if u.family != "" && u.family != o.size.family {
			continue
		}
		if u.name == "cores" || u.family != "" {
			if u.used+o.size.cpus > u.limit {
				return quotaExceeded(o.c.seed.Location, u.text, u.used, u.limit, o.size.cpus)
			}
		}
	}
	return nil
}

func quotaExceeded(where, what string, used, limit, more int) error {
	return conflicts("OperationNotAllowed", "Operation could not be completed as it results in exceeding approved %s quota. Additional details - Deployment Model: Resource Manager, Location: %s, Current Limit: %d, Current Usage: %d, Additional Required: %d, (Minimum) New Limit Required: %d. Setup Alerts when Quota reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting . Submit a request for Quota increase at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView. Please read more about quota limits at https://docs.microsoft.com/en-us/azure/azure-supportability/per-vm-quota-requests",
		what, where, limit, used, more, used+more)
}
