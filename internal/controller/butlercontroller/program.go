// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package butlercontroller is the main body of butler-controller.
package butlercontroller

import (
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/controller/butlerconfig"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

// Name of the program, and of the controller in events.
const Name = "butler-controller"

// Program looks after the platform of a management cluster and allocates addresses.
func Program() program.Program {
	return program.Program{Name: Name, Register: func(m manager.Manager) error {
		if err := butlerconfig.Register(m); err != nil {
			return err
		}
		return ipallocation.Register(m, ipallocation.Options{Name: Name})
	}}
}
