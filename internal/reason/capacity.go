// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func capacity() []Entry {
	return []Entry{
		{"QuotaExceeded", "a quota of the platform, of a Team or of the ProviderConfig is used up; the condition of that name on a Team: a limit was lowered below what is in use", "raise the quota, or delete something. The request continues by itself"},
		{"CapacityExhausted", "the platform has no room for the machine at present", "free capacity or add hosts. The request is retried, at most a minute apart"},
		{"VMIDRangeExhausted", "every VMID of the range is in use or planned", "widen `spec.proxmox.vmidRange`, or remove VMs and disks"},
		{"InstanceTypeNotFound", "the platform offers no size that has what is asked for, or not the one of the settings", "correct the size in the ProviderConfig, or request less"},
		{"InstanceTypeTooSmall", "the size of the settings has less than the machine asks for", "choose a larger one, or request less"},
		{"ImageMissing", "neither the request nor the ProviderConfig names an image", "name one"},
		{"ImageInvalid", "the name of the image has the wrong form, or the image cannot be used for the machine", "correct it as the message says"},
		{"ImageNotFound", "there is no such image", "upload it, or name another one"},
		{"ImageNotReady", "the image is being imported", ""},
		{"ImageBroken", "the import of the image failed", "import it again, or name another one"},
		{"ImageBackendUnsupported", "the image is of a Harvester storage backend from which disks cannot be created", "upload it with a Longhorn storage class of the V1 data engine"},
		{"NetworkNotFound", "there is no such network or subnet", "correct it in the ProviderConfig, or create it"},
		{"StorageClassNotFound", "there is no such storage class on Harvester", "correct `storageClass`, or create it"},
		{"StorageNotFound", "there is no such storage, or it does not hold disks of VMs, or the user may not see it", "correct the storage of the ProviderConfig or of the disk, or grant the right to see it"},
		{"ISOStorageMissing", "the Proxmox node sees no storage for ISO images, with which user data travels", "allow the content `iso` on a storage of the node"},
		{"ZoneNotFound", "the project has no such zone or region that is up", "correct `spec.gcp.region` or `spec.gcp.zone`"},
		{"ClusterNotFound", "there is no such Nutanix cluster that the user may see", "correct `spec.nutanix.clusterUUID`, or register the cluster"},
		{"ProjectNotFound", "there is no such Nutanix project that the user may see", "correct `spec.nutanix.project`, or add the user to the project"},
	}
}

func settings() []Entry {
	return []Entry{
		{"SettingsMissing", "the ProviderConfig has no block for its provider", "add the block, such as `spec.harvester`"},
		{"FieldUnsupported", "a field is set that has no effect on this platform", "remove it"},
		{"AddressUnsupported", "the platform, its network or the image cannot give a machine the address that is asked for", "create a request without `spec.network`, or use an image and a network that the message allows"},
		{"AddressInvalid", "the address that is asked for is not one of the network", "correct address, prefix or gateway"},
		{"LabelReserved", "`spec.labels` sets a tag that the driver sets itself", "remove it from `spec.labels`"},
		{"NameInvalid", "the name cannot be one of this platform's objects", "choose another name of the machine or of the cluster"},
		{"UserDataTooLong", "the platform does not accept that much user data", "shorten it"},
		{"ClientsUnrestricted", "a security rule of the user admits clients that `allowedCIDRs` does not", "remove the rule, restrict it, or give it a larger priority number; or remove `allowedCIDRs`"},
		{"NamespaceTerminating", "the namespace is being deleted: that of a Harvester ProviderConfig, or that of a tenant cluster", "wait until it is gone; on Harvester create it again, or set another one in `spec.harvester.namespace`"},
	}
}
