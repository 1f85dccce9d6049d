// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// resources are the few of Talos' resources that the emulation keeps: the
// machine's stage and its identity.
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
	return resources, resources.Create(ctx, system)
}

// readOnly is how clients see the resources.
func readOnly(resources state.CoreState) state.CoreState {
	return state.Filter(resources, func(_ context.Context, access state.Access) error {
		if access.Verb.Readonly() {
			return nil
		}
		return status.Error(codes.PermissionDenied, "write access to resources is denied")
	})
}

// disks is the storage service: the machine's one disk, whose size nobody knows.
type disks struct {
	storage.UnimplementedStorageServiceServer
}

func (disks) Disks(context.Context, *emptypb.Empty) (*storage.DisksResponse, error) {
	disk := &storage.Disk{DeviceName: "/dev/vda", Name: "vda", Model: "emulated", SystemDisk: true}
	return &storage.DisksResponse{Messages: []*storage.Disks{{Disks: []*storage.Disk{disk}}}}, nil
}
