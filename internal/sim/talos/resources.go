// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// resources are the few of Talos' resources that the emulation keeps: the
// machine's stage, its identity, its disks, and what its image is.
func resources(ctx context.Context, m datacenter.Machine, stage runtime.MachineStage) (state.State, error) {
	resources := state.WrapCore(namespaced.NewState(inmem.Build))
	machineStatus := runtime.NewMachineStatus()
	machineStatus.TypedSpec().Stage = stage
	machineStatus.TypedSpec().Status.Ready = true
	if err := resources.Create(ctx, machineStatus); err != nil {
		return nil, err
	}
	system := hardware.NewSystemInformation(hardware.SystemInformationID)
	system.TypedSpec().UUID = m.ID
	system.TypedSpec().ProductName = "emulated"
	return resources, errors.Join(resources.Create(ctx, system), createMetadata(ctx, resources, m), createDisks(ctx, resources, m), imageNamed(m.Image).create(ctx, resources))
}

// createMetadata creates the resource of what the platform says of the machine.
func createMetadata(ctx context.Context, resources state.State, m datacenter.Machine) error {
	metadata := runtime.NewPlatformMetadataSpec(runtime.NamespaceName, runtime.PlatformMetadataID)
	metadata.TypedSpec().Platform = modeOf(m).platform
	if from := m.Metadata; from != nil {
		*metadata.TypedSpec() = runtime.PlatformMetadataSpec{
			Platform: from.Platform, Hostname: from.Hostname, Region: from.Region, Zone: m.Zone, InstanceType: from.InstanceType,
			InstanceID: from.InstanceID, ProviderID: from.ProviderID, InternalDNS: from.Hostname, Tags: from.Tags,
		}
	}
	return resources.Create(ctx, metadata)
}

// create makes the resources of an image: the schematic is an extension.
func (i image) create(ctx context.Context, resources state.State) (err error) {
	if i.showsVersion() {
		version := runtime.NewVersion()
		version.TypedSpec().Name, version.TypedSpec().Version = "Talos", i.version
		err = resources.Create(ctx, version)
	}
	if i.schematic == "" {
		return err
	}
	extension := runtime.NewExtensionStatus(runtime.NamespaceName, "0")
	extension.TypedSpec().Metadata.Name, extension.TypedSpec().Metadata.Version = "schematic", i.schematic
	return errors.Join(err, resources.Create(ctx, extension))
}

// shows reports whether the node of an image has resources of a type.
func (i image) shows(kind resource.Type) bool {
	switch kind {
	case runtime.VersionType:
		return i.showsVersion()
	case runtime.ExtensionStatusType:
		return i.version != ""
	}
	return slices.Contains([]resource.Type{
		runtime.MachineStatusType, runtime.PlatformMetadataType, hardware.SystemInformationType,
		block.DiskType, block.SystemDiskType, block.VolumeStatusType, k8s.StaticPodStatusType,
	}, kind)
}

// readOnly is how clients see the resources of a node: types that it does not have are
// refused as a real one does it.
func readOnly(resources state.CoreState, i image) state.CoreState {
	return state.Filter(resources, func(_ context.Context, access state.Access) error {
		switch {
		case !access.Verb.Readonly():
			return status.Error(codes.PermissionDenied, "write access to resources is denied")
		case !i.shows(access.ResourceType):
			return status.Errorf(codes.PermissionDenied, "resource type %q is not supported", access.ResourceType)
		}
		return nil
	})
}
