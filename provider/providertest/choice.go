// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

// ChoosesAndOffers demands, of a configuration that passes every check, that the driver knows
// the image of each machine without creating it, and that it offers what the configuration
// refers to.
func ChoosesAndOffers(t *testing.T, p provider.Platform, config provider.Config, specs []provider.MachineSpec) {
	t.Helper()
	for _, s := range specs {
		if c, err := p.Choose(t.Context(), s); err != nil || c.Image == "" || (c.Size == "") != config.Spec.Provider.OnPrem() {
			t.Errorf("for %s it chooses %+v, %v", s.Name, c, err)
		}
	}
	offers, err := p.Offers(t.Context())
	if err != nil || len(offers) == 0 {
		t.Errorf("it offers %v, %v", offers, err)
	}
	for field, all := range offers {
		for _, used := range settings(t, config, field) {
			if !slices.ContainsFunc(all, func(o provider.Offer) bool { return o.Value == used }) {
				t.Errorf("%s is %s, and it offers %v", field, used, all)
			}
		}
	}
}

// settings are the values of a field of the ProviderConfig: none, one, or those of a list.
func settings(t *testing.T, config provider.Config, field string) (out []string) {
	t.Helper()
	data, err := json.Marshal(config.ProviderConfig)
	if err != nil {
		t.Fatal(err)
	}
	var at any
	if err := json.Unmarshal(data, &at); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(field, ".") {
		object, _ := at.(map[string]any)
		at = object[part]
	}
	all, isList := at.([]any)
	if !isList {
		all = []any{at}
	}
	for _, v := range all {
		if text, ok := v.(string); ok && text != "" {
			out = append(out, text)
		}
	}
	return out
}
