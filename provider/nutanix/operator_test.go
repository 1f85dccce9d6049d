// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

// operator sees and changes the simulated Prism Central as its administrator does. Faults are
// the simulator's.
type operator struct{ *fixture }

// shown is a VM as the administrator sees it.
type shown struct {
	Metadata struct {
		UUID        string
		SpecVersion int `json:"spec_version"`
		Categories  map[string]string
	}
	Spec   struct{ Name, Description string }
	Status struct {
		State     string
		Resources struct {
			Sockets  int32  `json:"num_sockets"`
			Cores    int32  `json:"num_vcpus_per_socket"`
			MemoryMB int32  `json:"memory_size_mib"`
			Power    string `json:"power_state"`
			Disks    []struct {
				SizeMiB int32 `json:"disk_size_mib"`
				Device  struct {
					Type    string `json:"device_type"`
					Address struct {
						Index int32 `json:"device_index"`
					} `json:"disk_address"`
				} `json:"device_properties"`
			} `json:"disk_list"`
		}
	}
}

// call sends a request that must succeed.
func (o operator) call(ctx context.Context, method, path string, body, out any) error {
	var answer json.RawMessage
	status, err := o.admin.Call(ctx, method, path, body, &answer)
	if err != nil || status >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %d %s %w", method, path, status, answer, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// all lists the VMs of a name.
func (o operator) all(ctx context.Context, name string) (all []shown, err error) {
	var answer struct{ Entities []shown }
	err = o.call(ctx, http.MethodPost, "vms/list", map[string]any{"kind": "vm", "filter": "vm_name==" + name, "length": most}, &answer)
	return answer.Entities, err
}

// CreateConflict implements providertest.Operator.
func (o operator) CreateConflict(ctx context.Context, name string) error {
	body := map[string]any{"metadata": map[string]any{"kind": "vm"}, "spec": map[string]any{
		"name": name, "description": "created by hand", "cluster_reference": map[string]any{"kind": "cluster", "uuid": clusterID},
		"resources": map[string]any{"num_sockets": 1, "num_vcpus_per_socket": 1, "memory_size_mib": 1024, "power_state": "ON"},
	}}
	if err := o.call(ctx, http.MethodPost, "vms", body, nil); err != nil {
		return err
	}
	return o.settled(ctx, name)
}

// settled waits until no task changes the VM of a name.
func (o operator) settled(ctx context.Context, name string) error {
	for {
		all, err := o.all(ctx, name)
		if err != nil || len(all) > 0 && all[0].Status.State == stateComplete {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Clone implements providertest.Operator: the platform's own clone has the description.
func (o operator) Clone(ctx context.Context, name, as string) (func(), error) {
	of, err := o.all(ctx, name)
	if err != nil || len(of) != 1 {
		return nil, fmt.Errorf("%d machines of the name: %w", len(of), err)
	}
	if err := o.call(ctx, http.MethodPost, "vms/"+of[0].Metadata.UUID+"/clone", map[string]any{"override_spec": map[string]any{"name": as}}, nil); err != nil {
		return nil, err
	}
	return func() {
		copies, _ := o.all(context.WithoutCancel(ctx), as) // what is left is seen by the next look
		for _, c := range copies {
			_ = o.call(context.WithoutCancel(ctx), http.MethodDelete, "vms/"+c.Metadata.UUID, nil, nil)
		}
	}, o.settled(ctx, as)
}

// Inspect implements providertest.Operator.
func (o operator) Inspect(ctx context.Context, name string) (s providertest.View, err error) {
	all, err := o.all(ctx, name)
	for _, v := range all {
		s.Machines = append(s.Machines, o.seen(v))
	}
	return s, err
}

func (o operator) seen(v shown) providertest.MachineState {
	r := v.Status.Resources
	one := providertest.MachineState{
		ID: v.Metadata.UUID, Owner: tag.Nutanix().ReadText(v.Spec.Description).OwnerID, Labels: v.Metadata.Categories,
		Version: fmt.Sprint(v.Metadata.SpecVersion, r.Power), CPU: r.Sockets * r.Cores, MemoryMB: r.MemoryMB,
	}
	one.UserData, _ = o.UserData(v.Spec.Name)
	for _, d := range r.Disks {
		switch {
		case d.Device.Type != "DISK":
		case d.Device.Address.Index == 0:
			one.DiskGB = d.SizeMiB >> 10
		default:
			one.ExtraDisksGB = append(one.ExtraDisksGB, d.SizeMiB>>10)
		}
	}
	return one
}
