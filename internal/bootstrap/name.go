// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// place is what a machine is in its cluster, whatever its name.
type place struct {
	role  v1alpha1.MachineRole
	index string
}

func placeOf(name string, role v1alpha1.MachineRole) place {
	return place{role, name[strings.LastIndex(name, "-")+1:]}
}

// keepNames gives the machines of the plan the names that they have already. Another
// release may have named them differently; under the names of the plan they would be
// created a second time.
func (s *Session) keepNames(ctx context.Context) error {
	names, err := s.names(ctx)
	for i, m := range s.Plan.Machines {
		if name := names[placeOf(m.Name, m.Role)]; name != "" {
			s.Plan.Machines[i].Name = name
		}
	}
	return err
}

// names come from the status, and from requests that were created before their names
// could be written there.
func (s *Session) names(ctx context.Context) (map[place]string, error) {
	names := map[place]string{}
	if len(s.Status.Machines) < len(s.Plan.Machines) {
		requests, err := s.own(ctx, &v1alpha1.MachineRequestList{})
		if err != nil {
			return nil, err
		}
		for _, o := range requests {
			names[placeOf(o.GetName(), o.(*v1alpha1.MachineRequest).Spec.Role)] = o.GetName()
		}
	}
	for _, m := range s.Status.Machines {
		names[placeOf(m.Name, m.Role)] = m.Name
	}
	return names, nil
}
