// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nutanix drives Nutanix.
package nutanix

import (
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Provider returns the Nutanix provider.
func Provider() provider.Provider {
	return provider.Provider{Type: v1alpha1.ProviderNutanix, Connect: connect, Login: provider.Login{}}
}

// connect returns a connection to the platform of a ProviderConfig.
func connect(_ context.Context, c provider.Config) (provider.Platform, error) {
	return provider.Platform{}, unimplemented(fmt.Sprintf("connect to Nutanix of ProviderConfig %q", c.Name))
}

// unimplemented is the error of what is left to do. The driver is complete when nothing
// calls it.
func unimplemented(op string) error {
	return &provider.Error{Kind: provider.Invalid, Reason: "Unimplemented", Op: op, Err: errors.New("the driver cannot do this yet")}
}
