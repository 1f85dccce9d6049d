// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// PricesText returns prices on one line, for tests.
func PricesText(list provider.PriceList) string {
	var all []string
	for _, p := range list.Prices {
		text := fmt.Sprintf("%d %s %s ", p.Count, strings.TrimSpace(p.Unit+" "+p.Kind), p.Name)
		if p.Rate == nil {
			text += "? " + p.Unknown
		} else {
			text += provider.Decimal(p.Rate) + "/" + string(p.Period)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
