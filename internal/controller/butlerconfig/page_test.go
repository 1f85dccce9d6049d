// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestEveryReasonAndItsMessageAreOnThePage decides about things that are named
// as on the page.
func TestEveryReasonAndItsMessageAreOnThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "butlerconfig.md"))
	if err != nil {
		t.Fatal(err)
	}
	provider := v1alpha1.ButlerConfigSpec{DefaultProviderConfigRef: &v1alpha1.LocalReference{Name: "*NAME*"}}
	gateway := exposed(v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway, GatewayRef: "*NAMESPACE/NAME*"})
	classes := facts{classes: []class{{name: "*NAMES*"}}}
	for _, v := range []verdict{
		{mode: "*MODE*"},
		decide(provider, facts{}),
		decide(provider, facts{provider: ofTeam()}),
		decide(ingress("*NAME*"), classes),
		decide(ingress(""), classes),
		decide(gateway, facts{gateway: missing}),
		decide(gateway, facts{gateway: unserved}),
	} {
		c := v.condition()
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", c.Reason, c.Status, c.Message); !strings.Contains(string(page), row) {
			t.Errorf("the page does not have the row\n%s", row)
		}
	}
}
