// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Prices demands, of a configuration that passes every check, that a cloud has the price of
// all machines and their disks and of a load balancer, each with its currency, and that a
// platform of one's own has none.
func Prices(t *testing.T, p provider.Platform, config provider.Config, machines []provider.MachineSpec) {
	t.Helper()
	if config.Spec.Provider.OnPrem() {
		if p.Prices != nil {
			t.Error("a platform of one's own has prices")
		}
		return
	}
	if p.Prices == nil {
		t.Error("a cloud has no prices")
		return
	}
	list, err := p.Prices(t.Context(), provider.Basket{Machines: machines, LoadBalancer: &provider.LoadBalancerSpec{Port: 6443, Scheme: v1alpha1.SchemeInternetFacing}})
	if err != nil || list.Source == "" {
		t.Errorf("prices of %q: %v", list.Source, err)
	}
	count := map[string]int64{}
	for _, one := range list.Prices {
		count[one.Kind] += one.Count
		if one.Rate == nil || one.Rate.Sign() <= 0 || one.Unknown != "" || len(one.Currency) != 3 || one.Count < 1 || one.Name == "" || one.Period != provider.Hourly && one.Period != provider.Monthly {
			t.Errorf("the price %+v", one)
		}
	}
	if count[provider.PartMachine] != int64(len(machines)) || count[provider.PartDisk] == 0 || count[provider.PartLoadBalancer] != 1 {
		t.Errorf("it has prices of %v", count)
	}
}

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
