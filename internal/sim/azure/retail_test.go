// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// retail gets a link of the price service, without a token.
func (f *fixture) retail(t *testing.T, link string) (status int, body map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	cloudtest.Must(t, err)
	answer, err := f.Client().Do(r)
	cloudtest.Must(t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	cloudtest.Must(t, err)
	cloudtest.Must(t, json.Unmarshal(content, &body))
	return answer.StatusCode, body
}

func retailLink(filter string) string {
	return "https://prices.azure.com/api/retail/prices?" + url.Values{"$filter": {filter}}.Encode()
}

const ofOneSize = "serviceName eq 'Virtual Machines' and armRegionName eq 'westeurope' and armSkuName eq 'Standard_D4s_v5'"

// TestPricesOfASizeAreMany: a client that takes the first one gets a wrong price.
func TestPricesOfASizeAreMany(t *testing.T) {
	f := start(t, azure.Seed{PageSize: 4})
	var seen []string
	pages := 0
	for link := retailLink(ofOneSize); link != ""; pages++ {
		status, body := f.retail(t, link)
		if status != http.StatusOK || body["BillingCurrency"] != "USD" || body["Count"] != float64(len(body["Items"].([]any))) {
			t.Fatal(status, body)
		}
		for _, i := range body["Items"].([]any) {
			one := i.(map[string]any)
			if one["unitOfMeasure"] != "1 Hour" || one["retailPrice"].(float64) <= 0 {
				t.Errorf("%v", one)
			}
			seen = append(seen, one["type"].(string)+" "+one["productName"].(string)+" "+one["skuName"].(string))
		}
		link, _ = body["NextPageLink"].(string)
	}
	all := strings.Join(seen, "\n")
	for _, want := range []string{"D4s v5 Spot", "D4s v5 Low Priority", "Windows D4s v5", "Cloud Services", "Reservation", "DevTestConsumption"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not in\n%s", want, all)
		}
	}
	if len(seen) != 10 || pages != 3 {
		t.Errorf("%d prices on %d pages", len(seen), pages)
	}
}

func TestRetailFilters(t *testing.T) {
	f, broken := start(t, azure.Seed{}), start(t, azure.Seed{PriceStatus: http.StatusServiceUnavailable})
	for reason, c := range map[string]struct {
		*fixture
		filter       string
		status, many int
	}{
		"values are compared as they are":   {f, "serviceName eq 'virtual machines'", http.StatusOK, 0},
		"another type of price":             {f, ofOneSize + " and priceType eq 'Reservation'", http.StatusOK, 1},
		"all but a type":                    {f, ofOneSize + " and priceType ne 'Consumption'", http.StatusOK, 2},
		"the disk, its mount and its calls": {f, "skuName eq 'P10 LRS' and armRegionName eq 'westeurope'", http.StatusOK, 3},
		"no field of the service":           {f, "type eq 'Consumption'", http.StatusBadRequest, 0},
		"no filter at all":                  {f, "serviceName = 'Storage'", http.StatusBadRequest, 0},
		"half a filter":                     {f, "serviceName eq 'Storage' and ", http.StatusBadRequest, 0},
		"a service out of order":            {broken, ofOneSize, http.StatusServiceUnavailable, 0},
	} {
		status, body := c.retail(t, retailLink(c.filter))
		items, _ := body["Items"].([]any)
		said, _ := body["Error"].(map[string]any)
		if status != c.status || len(items) != c.many || (status != http.StatusOK) != (said["Message"] != nil) {
			t.Errorf("%s: %d, %d prices, %v", reason, status, len(items), said)
		}
	}
}
