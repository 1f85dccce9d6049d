// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// ciliumDefinitions are in no chart of Cilium: its operator creates them.
func ciliumDefinitions(context.Context, program) ([]*unstructured.Unstructured, error) {
	return standin.CiliumDefinitions()
}
