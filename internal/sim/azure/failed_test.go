// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

func TestFailedPartsAreRefused(t *testing.T) {
	f := start(t, azure.Seed{FailedParts: []string{"one"}})
	p, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "one", nic(), nil)
	cloudtest.Must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: 5 * time.Millisecond})
	expect(t, "interface", err, "200 InternalServerError")
	_, err = f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", "one", machine("one"), nil)
	expect(t, "machine", err, "409 ReferencedResourceNotProvisioned")
	f.run(t, "one") // its interface is written again
}
