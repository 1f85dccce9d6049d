// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"net/netip"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Machines creates, observes and removes machines. Every method is idempotent and
// returns an Error on failure; none waits for the platform to finish.
type Machines interface {
	// Observe reports what the platform holds for the owner. A missing machine is
	// StateAbsent, not an error, and so is one of that name with another owner.
	Observe(context.Context, MachineRef) (Machine, error)
	// Create creates what is missing of the machine and reports what it then is. It
	// is asked again while the state is Partial. A name taken by something without
	// our owner is a Conflict.
	Create(context.Context, MachineSpec) (Machine, error)
	// Delete asks the platform to remove everything that Create created for this
	// owner, and nothing else, and reports what is left. It is asked again until it
	// reports Absent, in place of Observe; what is being removed already is not asked
	// for again. An object that cannot be removed does not block the others.
	Delete(context.Context, MachineRef) (Machine, error)
	// List reports all machines, partial ones too, whose owner matches every field
	// that is set. An owner without any field is Invalid. A machine of which only
	// Copies exist is reported as StateAbsent.
	List(context.Context, Owner) ([]Machine, error)
}

// MachineRef names a machine. The owner decides: the name is only where to look.
type MachineRef struct {
	Name  string
	Owner Owner
	// ID is Machine.ID as a Create or Observe has returned it; empty where the caller has
	// none. It helps to find the machine where a listing lacks it or the name was changed.
	ID string
}

// State is what the platform reports about a machine.
type State string

// The states of a machine.
const (
	// StateAbsent: nothing of the machine exists.
	StateAbsent State = "Absent"
	// StatePartial: some of what Create creates is missing.
	StatePartial State = "Partial"
	// StatePending: complete, but not running or without an address so far.
	StatePending State = "Pending"
	// StateRunning: running, with at least one address.
	StateRunning State = "Running"
	// StateDeleting: the platform is removing it.
	StateDeleting State = "Deleting"
	// StateStopped: complete, but off, and the platform does not start it again by
	// itself.
	StateStopped State = "Stopped"
	// StateBroken: the platform reports that it will not run without help.
	StateBroken State = "Broken"
)

// Machine is what the platform reports.
type Machine struct {
	Ref   MachineRef
	State State
	// ID is the platform's identifier; empty while no machine proper exists. It is
	// status.providerID of the request and the ID of a Target.
	ID string
	// NodeProviderID is the provider ID that the kubelet of the machine's node gets, in the
	// form that the platform's cloud controller manager looks machines up by, for example
	// gce://project/zone/name. It is set while the state is Running, does not change during
	// the life of the machine, and no other machine has it. Empty means that the kubelet
	// gets none, as on platforms without a cloud controller manager.
	NodeProviderID string
	// Addresses without link-local ones, the primary one first.
	Addresses []netip.Addr
	// MAC is the primary hardware address.
	MAC string
	// Disks are those whose serial number or logical unit number is known; the operating
	// system finds them by it. They do not change during the life of the machine.
	Disks []v1alpha1.MachineDisk
	// Message is the present obstacle on the way to StateRunning, for people.
	// It has no request ids and no times. With StateAbsent it says why the machine is
	// gone, if the platform reports that.
	Message string
	// Reason is one word for the obstacle, such as ReasonNoAddress; empty where the
	// machine only takes its time.
	Reason string
	// Certain says, with StateAbsent, that nothing can appear any more, for example as the
	// platform still lists the machine as terminated: no Settle has to pass.
	Certain bool
	// Parts are all objects that the platform holds for the machine, the machine
	// proper included. Only List fills them in.
	Parts []Part
	// Copies are objects that carry the owner's tags but were not created by this
	// driver: platforms copy tags to clones and restored backups. No call changes or
	// deletes them. Only List fills them in.
	Copies []Part
}

// MachineSpec is the machine that is wanted.
type MachineSpec struct {
	MachineRef
	Role       v1alpha1.MachineRole
	CPU        int32
	MemoryMB   int32
	DiskGB     int32
	ExtraDisks []v1alpha1.DiskSpec
	// Image in the provider's own format; empty means the ProviderConfig's.
	Image       string
	UserData    Sensitive
	NetworkData Sensitive
	// Network is the address that the machine has from its first boot; nil means that DHCP or
	// the platform gives it one. A driver that cannot do so refuses it as Invalid.
	Network *Network
	Labels  map[string]string
	// TalosVersion and Schematic let a driver look up its platform's default image.
	TalosVersion string
	Schematic    string
	// Extensions are those that the image needs for what the cluster installs. Only
	// Preflight gets them.
	Extensions []string
	// Attempt is the record that Platform.Plan returned for this Create; empty where the
	// caller stores none. The same Attempt asks the platform for the same machine again,
	// whatever was chosen meanwhile for others.
	Attempt string
}

// Attempt is what is known about the last Create of a machine.
type Attempt struct {
	// Record is what Plan returned for it; empty means that there was none.
	Record string
	// Refused is the error with which the platform has definitely refused it.
	Refused error
}
