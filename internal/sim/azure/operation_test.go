// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// TestAnAddressIsCreatedThoughItIsTaken: an interface takes the address before the
// operation of its creation has ended.
func TestAnAddressIsCreatedThoughItIsTaken(t *testing.T) {
	f := &fixture{}
	f.Create = time.Second
	f.Start(t, azure.Platform(), t.TempDir(), azure.Seed{Role: everything()})
	const kind = "Microsoft.Network/publicIPAddresses"
	state := func(name string) string {
		_, body := f.call(t, http.MethodGet, resources+kind+"/"+name+"?api-version=2025-01-01", f.token(t), "")
		_, after, _ := strings.Cut(body, `"provisioningState":"`)
		value, _, _ := strings.Cut(after, `"`)
		return value
	}
	for i := range 5 {
		name := fmt.Sprint("a", i)
		f.write(t, kind, name, `{"publicIPAllocationMethod":"Static"}`)
		f.write(t, "Microsoft.Network/networkInterfaces", name, `{"ipConfigurations":[{"name":"a","properties":{"subnet":{"id":"`+subnetID+`"},"publicIPAddress":{"id":"`+resources+kind+"/"+name+`"}}}]}`)
		if state(name) == "Creating" {
			cloudtest.Until(t, "the address is created", func() bool { return state(name) == "Succeeded" })
			return
		}
	}
	t.Error("no interface was faster than the operation of its address")
}
