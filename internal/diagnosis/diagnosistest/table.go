// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package diagnosistest is the table of all faults of the simulator and of the causes that a
// diagnosis has to find for them. Tests bring them about: those of platforms by drivers and
// reconcilers against simulated platforms, those of nodes and addons in rehearsals.
package diagnosistest

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider"
)

// Stage is when a fault shows.
type Stage string

// The stages.
const (
	Create Stage = "create" // while machines are created
	Run    Stage = "run"    // while machines run
	Delete Stage = "delete" // while machines are deleted
	Node   Stage = "node"   // on nodes, in rehearsals alone
	Addon  Stage = "addon"  // while addons are installed, in rehearsals alone
)

// Row is a fault and what a diagnosis finds.
type Row struct {
	Fault fault.Fault
	Stage Stage
	// Cause is that of all platforms but those of But. Empty means that the platform starts the
	// machine again, or moves it, which leaves nothing to explain.
	Cause diagnosis.Cause
	But   map[v1alpha1.ProviderType]diagnosis.Cause
	// Other has another fault of the kind for platforms that the first one does not fit.
	Other map[v1alpha1.ProviderType]fault.Fault
	// Ahead says that time has to pass before the platform is believed.
	Ahead time.Duration
}

// CauseOn is the cause on a platform.
func (r Row) CauseOn(p v1alpha1.ProviderType) diagnosis.Cause {
	if c, other := r.But[p]; other {
		return c
	}
	return r.Cause
}

// Name is the kind, and the verb where a kind has several rows.
func (r Row) Name() string {
	if r.Fault.Kind == fault.FailedTask {
		return string(r.Fault.Kind) + "-" + string(r.Fault.Verb)
	}
	return string(r.Fault.Kind)
}

// On is the fault on a platform, for the machine of a cluster.
func (r Row) On(p v1alpha1.ProviderType, machine string) fault.Fault {
	f := r.Fault
	if other, has := r.Other[p]; has {
		f = other
	}
	if f.Machine != "" {
		f.Machine = machine
	}
	return f
}

const each = "machine" // is replaced by the name of a machine

// VIP is the common address of control planes on premises, in the manifests of the fault matrix.
const VIP = "10.40.0.200"

// Rows are all of them.
func Rows() []Row {
	const (
		harvester, nutanix, proxmox = v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox
		aws, azure, gcp             = v1alpha1.ProviderAWS, v1alpha1.ProviderAzure, v1alpha1.ProviderGCP
	)
	type but = map[v1alpha1.ProviderType]diagnosis.Cause
	long := metav1.Duration{Duration: time.Hour}
	full := diagnosis.Cause(provider.ReasonCapacityExhausted)
	return []Row{
		// Proxmox VE does not throttle: it does not answer in time.
		{Fault: fault.Fault{Kind: fault.Throttle, Verb: fault.Create, Resource: fault.Machine}, Stage: Create, Cause: provider.ReasonPlatformThrottled, But: but{proxmox: diagnosis.PlatformSilent}},
		{Fault: fault.Fault{Kind: fault.Deny, Verb: fault.Create, Resource: fault.Machine}, Stage: Create, Cause: provider.ReasonPermissionDenied},
		{Fault: fault.Fault{Kind: fault.TokenExpiry}, Stage: Create, Cause: provider.ReasonCredentialsRefused},
		// Prism and Proxmox VE have no code of their own for a quota.
		{Fault: fault.Fault{Kind: fault.Quota, Resource: fault.Machine}, Stage: Create, Cause: provider.ReasonQuotaExceeded, But: but{nutanix: full, proxmox: full}},
		{Fault: fault.Fault{Kind: fault.SlowList, Delay: long}, Stage: Create, Cause: diagnosis.PlatformSilent},
		{Fault: fault.Fault{Kind: fault.LostResponse, Verb: fault.List}, Stage: Create, Cause: diagnosis.PlatformSilent},
		// Where creation returns an id, a machine that does not show is soon taken for gone.
		{Fault: fault.Fault{Kind: fault.StaleList, Resource: fault.Machine, For: metav1.Duration{Duration: 4 * time.Minute}}, Stage: Create, Cause: diagnosis.PlatformLags, But: but{harvester: diagnosis.MachineGone, nutanix: diagnosis.MachineGone, aws: diagnosis.MachineGone},
			Other: map[v1alpha1.ProviderType]fault.Fault{gcp: {Kind: fault.StaleList, For: metav1.Duration{Duration: 4 * time.Minute}}}},
		{Fault: fault.Fault{Kind: fault.FailedTask, Verb: fault.Create}, Stage: Create, Cause: diagnosis.MachineFailed, But: but{aws: diagnosis.MachineGone}},
		// QEMU does not say why it could not start a VM.
		{Fault: fault.Fault{Kind: fault.NoCapacity}, Stage: Create, Cause: full, But: but{proxmox: diagnosis.MachineFailed}},
		// Clouds and AHV assign addresses themselves, whether the guest has them or not.
		{Fault: fault.Fault{Kind: fault.NoAddress}, Stage: Create, Cause: provider.ReasonNoAddress, But: but{nutanix: diagnosis.NoRoute, aws: diagnosis.NodeUnreachable, azure: diagnosis.NoRoute, gcp: diagnosis.NoRoute}},
		{Fault: fault.Fault{Kind: fault.ConflictingMachine, Machine: each}, Stage: Create, Cause: provider.ReasonNameTaken},
		{Fault: fault.Fault{Kind: fault.SecondPlatform}, Stage: Run, Cause: diagnosis.OtherPlatform, Ahead: 5 * time.Minute},
		{Fault: fault.Fault{Kind: fault.Hang}, Stage: Create, Cause: diagnosis.PlatformSilent},

		// All but Proxmox VE, where nothing does without HA, start such a machine again. One that
		// ends within a second of its start would be a start that failed.
		{Fault: fault.Fault{Kind: fault.MachineDies, Machine: each, After: metav1.Duration{Duration: 2 * time.Second}}, Stage: Run, Cause: diagnosis.MachineLost, But: but{harvester: "", nutanix: "", gcp: "", aws: "", azure: ""}, Ahead: 10 * time.Minute},
		{Fault: fault.Fault{Kind: fault.Drain, Machine: each}, Stage: Run, Cause: ""},
		{Fault: fault.Fault{Kind: fault.Clone, Machine: each}, Stage: Run, Cause: diagnosis.CopyOnPlatform},
		{Fault: fault.Fault{Kind: fault.FailedTask, Verb: fault.Delete}, Stage: Delete, Cause: diagnosis.DeletionPending},

		// The rest in the order in which a bootstrap can meet them. Load balancers of clouds have
		// addresses that no other host can have.
		{Fault: fault.Fault{Kind: fault.NoGateway}, Stage: Node, Cause: diagnosis.NoRoute},
		{Fault: fault.Fault{Kind: fault.ConflictingHost, Address: VIP}, Stage: Node, Cause: diagnosis.AddressInUse, But: but{aws: "", azure: "", gcp: ""}},
		{Fault: fault.Fault{Kind: fault.ChartUnavailable, Addon: "cert-manager"}, Stage: Addon, Cause: diagnosis.ChartUnavailable},
		{Fault: fault.Fault{Kind: fault.HookFails, Addon: "steward"}, Stage: Addon, Cause: diagnosis.HookFails},
		{Fault: fault.Fault{Kind: fault.WebhookRefuses}, Stage: Addon, Cause: diagnosis.WebhookRefuses},
		{Fault: fault.Fault{Kind: fault.ImageMissing, Addon: "butler-controller"}, Stage: Addon, Cause: diagnosis.ImagePull},
		{Fault: fault.Fault{Kind: fault.AddonNotReady, Addon: "cert-manager"}, Stage: Addon, Cause: diagnosis.PodCrashes},
		{Fault: fault.Fault{Kind: fault.APIServerDies, For: long}, Stage: Node, Cause: diagnosis.APIServerDown},
	}
}

// InRehearsals are the rows that a rehearsal brings about, in the order in which it can meet them.
func InRehearsals() []Row {
	return slices.DeleteFunc(Rows(), func(r Row) bool { return r.Stage != Node && r.Stage != Addon })
}
