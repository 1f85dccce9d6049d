// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

const catalogue = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus"

// TestTheCatalogueIsReadPageByPage: a client that takes the first SKU with the words of a
// series gets a wrong price.
func TestTheCatalogueIsReadPageByPage(t *testing.T) {
	f := start(t, gcp.Seed{})
	seen, pages := map[string]bool{}, 0
	for token := ""; pages == 0 || token != ""; pages++ {
		status, page := f.request(http.MethodGet, catalogue+"?pageSize=300&pageToken="+token, nil)
		if status != http.StatusOK || pages > 10 {
			t.Fatal(status, page)
		}
		for _, s := range page["skus"].([]any) {
			one := s.(object)
			seen[one["skuId"].(string)] = true
			if text := one["description"].(string); strings.Contains(text, "N2 Instance Core running in Frankfurt") {
				seen[text] = true
			}
		}
		token = page["nextPageToken"].(string)
	}
	for _, want := range []string{"N2 Instance Core running in Frankfurt", "Spot Preemptible N2 Instance Core running in Frankfurt", "Sole Tenancy Premium for N2 Instance Core running in Frankfurt"} {
		if !seen[want] {
			t.Errorf("there is no %s", want)
		}
	}
	if pages < 2 || len(seen) < 300*(pages-1) {
		t.Errorf("%d SKUs on %d pages", len(seen), pages)
	}
}

func TestPartialAnswersHaveOnlyWhatWasAskedFor(t *testing.T) {
	f := start(t, gcp.Seed{})
	_, page := f.request(http.MethodGet, catalogue+"?fields=skus(description,category(usageType),pricingInfo(pricingExpression(tieredRates)))&pageSize=1", nil)
	one := page["skus"].([]any)[0].(object)
	expression := one["pricingInfo"].([]any)[0].(object)["pricingExpression"].(object)
	got := []string{keys(page), keys(one), keys(one["category"].(object)), keys(expression)}
	if want := []string{"skus", "category description pricingInfo", "usageType", "tieredRates"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func keys(o object) string { return strings.Join(slices.Sorted(maps.Keys(o)), " ") }

func TestTheCatalogueRefuses(t *testing.T) {
	f, disabled, unknown := start(t, gcp.Seed{}), start(t, gcp.Seed{NoBilling: true}), start(t, gcp.Seed{})
	unknown.token = ""
	for reason, c := range map[string]struct {
		*fixture
		address string
		status  int
		says    string
	}{
		"a service that is not sold":       {f, "https://cloudbilling.googleapis.com/v1/services/AAAA-BBBB-CCCC/skus", http.StatusNotFound, "was not found"},
		"a page that is too large":         {f, catalogue + "?pageSize=5001", http.StatusBadRequest, "invalid argument"},
		"a token of no page":               {f, catalogue + "?pageToken=x", http.StatusBadRequest, "invalid argument"},
		"a parameter that is not known":    {f, catalogue + "?filter=region", http.StatusBadRequest, "Unknown name"},
		"a field selection that is broken": {f, catalogue + "?fields=skus(", http.StatusBadRequest, "Invalid field selection"},
		"another currency":                 {f, catalogue + "?currencyCode=EUR", http.StatusBadRequest, "USD only"},
		"a project without the API":        {disabled, catalogue, http.StatusForbidden, "Cloud Billing API has not been used in project"},
		"no token":                         {unknown, catalogue, http.StatusUnauthorized, ""},
	} {
		status, body := c.request(http.MethodGet, c.address, nil)
		if status != c.status || !strings.Contains(fmt.Sprint(body), c.says) {
			t.Errorf("%s: %d %v", reason, status, body)
		}
	}
}
