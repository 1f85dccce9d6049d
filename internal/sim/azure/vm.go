// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import "time"

const vmKind = "Microsoft.Compute/virtualMachines"

type vm = resource[vmProperties]

type vmProperties struct {
	status
	VMID                    string              `json:"vmId,omitempty"`
	HardwareProfile         *hardwareProfile    `json:"hardwareProfile,omitempty"`
	StorageProfile          *storageProfile     `json:"storageProfile,omitempty"`
	OSProfile               *osProfile          `json:"osProfile,omitempty"`
	NetworkProfile          *networkProfile     `json:"networkProfile,omitempty"`
	SecurityProfile         *securityProfile    `json:"securityProfile,omitempty"`
	DiagnosticsProfile      *diagnosticsProfile `json:"diagnosticsProfile,omitempty"`
	AdditionalCapabilities  *capabilities       `json:"additionalCapabilities,omitempty"`
	AvailabilitySet         *ref                `json:"availabilitySet,omitempty"`
	ProximityPlacementGroup *ref                `json:"proximityPlacementGroup,omitempty"`
	UserData                string              `json:"userData,omitempty"`
	Priority                string              `json:"priority,omitempty"`
	LicenseType             string              `json:"licenseType,omitempty"`
	TimeCreated             string              `json:"timeCreated,omitempty"`
	InstanceView            *instanceView       `json:"instanceView,omitempty"`
}

type hardwareProfile struct {
	VMSize string `json:"vmSize,omitempty"`
}

type storageProfile struct {
	ImageReference     *imageReference `json:"imageReference,omitempty"`
	OSDisk             *vmDisk         `json:"osDisk,omitempty"`
	DataDisks          []vmDisk        `json:"dataDisks"`
	DiskControllerType string          `json:"diskControllerType,omitempty"`
}

type imageReference struct {
	ID                      string `json:"id,omitempty"`
	Publisher               string `json:"publisher,omitempty"`
	Offer                   string `json:"offer,omitempty"`
	SKU                     string `json:"sku,omitempty"`
	Version                 string `json:"version,omitempty"`
	ExactVersion            string `json:"exactVersion,omitempty"`
	CommunityGalleryImageID string `json:"communityGalleryImageId,omitempty"`
}

type vmDisk struct {
	LUN                     *int         `json:"lun,omitempty"`
	OSType                  string       `json:"osType,omitempty"`
	Name                    string       `json:"name,omitempty"`
	CreateOption            string       `json:"createOption,omitempty"`
	Caching                 string       `json:"caching,omitempty"`
	WriteAcceleratorEnabled bool         `json:"writeAcceleratorEnabled,omitempty"`
	DiskSizeGB              int          `json:"diskSizeGB,omitempty"`
	ManagedDisk             *managedDisk `json:"managedDisk,omitempty"`
	DeleteOption            string       `json:"deleteOption,omitempty"`
	ToBeDetached            bool         `json:"toBeDetached,omitempty"`
}

type managedDisk struct {
	ID                 string `json:"id,omitempty"`
	StorageAccountType string `json:"storageAccountType,omitempty"`
}

type osProfile struct {
	ComputerName                string              `json:"computerName,omitempty"`
	AdminUsername               string              `json:"adminUsername,omitempty"`
	AdminPassword               string              `json:"adminPassword,omitempty"`
	CustomData                  string              `json:"customData,omitempty"`
	LinuxConfiguration          *linuxConfiguration `json:"linuxConfiguration,omitempty"`
	Secrets                     []struct{}          `json:"secrets"`
	AllowExtensionOperations    *bool               `json:"allowExtensionOperations,omitempty"`
	RequireGuestProvisionSignal *bool               `json:"requireGuestProvisionSignal,omitempty"`
}

type linuxConfiguration struct {
	DisablePasswordAuthentication bool              `json:"disablePasswordAuthentication"`
	SSH                           *sshConfiguration `json:"ssh,omitempty"`
	ProvisionVMAgent              *bool             `json:"provisionVMAgent,omitempty"`
	PatchSettings                 *patchSettings    `json:"patchSettings,omitempty"`
}

type patchSettings struct {
	PatchMode      string `json:"patchMode,omitempty"`
	AssessmentMode string `json:"assessmentMode,omitempty"`
}

type sshConfiguration struct {
	PublicKeys []sshKey `json:"publicKeys"`
}

type sshKey struct {
	Path    string `json:"path,omitempty"`
	KeyData string `json:"keyData,omitempty"`
}

type networkProfile struct {
	NetworkInterfaces []interfaceRef `json:"networkInterfaces"`
}

type interfaceRef struct {
	ID         string                  `json:"id,omitempty"`
	Properties *interfaceRefProperties `json:"properties,omitempty"`
}

type interfaceRefProperties struct {
	Primary      *bool  `json:"primary,omitempty"`
	DeleteOption string `json:"deleteOption,omitempty"`
}

type securityProfile struct {
	EncryptionAtHost bool          `json:"encryptionAtHost,omitempty"`
	SecurityType     string        `json:"securityType,omitempty"`
	UEFISettings     *uefiSettings `json:"uefiSettings,omitempty"`
}

type uefiSettings struct {
	SecureBootEnabled bool `json:"secureBootEnabled"`
	VTPMEnabled       bool `json:"vTpmEnabled"`
}

type diagnosticsProfile struct {
	BootDiagnostics *bootDiagnostics `json:"bootDiagnostics,omitempty"`
}

type bootDiagnostics struct {
	Enabled    bool   `json:"enabled"`
	StorageURI string `json:"storageUri,omitempty"`
}

type capabilities struct {
	UltraSSDEnabled    bool `json:"ultraSSDEnabled"`
	HibernationEnabled bool `json:"hibernationEnabled"`
}

type instanceView struct {
	ComputerName     string       `json:"computerName,omitempty"`
	HyperVGeneration string       `json:"hyperVGeneration,omitempty"`
	Disks            []diskView   `json:"disks,omitempty"`
	Statuses         []viewStatus `json:"statuses"`
}

type diskView struct {
	Name     string       `json:"name"`
	Statuses []viewStatus `json:"statuses"`
}

type viewStatus struct {
	Code          string `json:"code"`
	Level         string `json:"level"`
	DisplayStatus string `json:"displayStatus"`
	Message       string `json:"message,omitempty"`
	Time          string `json:"time,omitempty"`
}

// The power states.
const (
	powerStarting     = "starting"
	powerRunning      = "running"
	powerStopping     = "stopping"
	powerStopped      = "stopped"
	powerDeallocating = "deallocating"
	powerDeallocated  = "deallocated"
)

// showVM leaves out what is never returned, and adds the instance view where the caller
// asks for it.
func showVM(c *call, r *record) any {
	v := *r.object.(*vm)
	v.Properties.InstanceView = nil
	switch c.query.Get("$expand") {
	case "instanceView":
		v.Properties.InstanceView = c.view(r)
	case "userData":
		v.Properties.UserData = string(r.UserData)
	}
	if c.query.Get("statusonly") == "true" && c.id.group == "" { // the state and no more
		v.head = head{ID: v.ID, Name: v.Name, Type: v.Type, Location: v.Location}
		v.Properties = vmProperties{VMID: v.Properties.VMID, InstanceView: c.view(r)}
	}
	return &v
}

func serveInstanceView(c *call, r *record) (answer, error) { return ok(c.view(r)) }

var powerNames = map[string]string{
	powerStarting: "VM starting", powerRunning: "VM running", powerStopping: "VM stopping", powerStopped: "VM stopped",
	powerDeallocating: "VM deallocating", powerDeallocated: "VM deallocated",
}

// view is the run-time state of a machine.
func (c *call) view(r *record) *instanceView {
	v := r.object.(*vm)
	state := viewStatus{Code: "ProvisioningState/" + lowerFirst(*v.state()), Level: "Info", DisplayStatus: "Provisioning " + lowerFirst(*v.state()), Time: c.now.UTC().Format(time.RFC3339)}
	switch *v.state() {
	case creating, updating, deleting:
		state.DisplayStatus = *v.state()
	case failed:
		state.Code, state.Level, state.Message = "ProvisioningState/failed/"+r.Code, "Error", r.Message
	}
	out := &instanceView{HyperVGeneration: "V2", Statuses: []viewStatus{state}}
	if v.Properties.OSProfile != nil {
		out.ComputerName = v.Properties.OSProfile.ComputerName
	}
	if name := powerNames[r.Power]; name != "" {
		out.Statuses = append(out.Statuses, viewStatus{Code: "PowerState/" + r.Power, Level: "Info", DisplayStatus: name})
	}
	return out
}

func lowerFirst(text string) string { return string(text[0]|0x20) + text[1:] }
