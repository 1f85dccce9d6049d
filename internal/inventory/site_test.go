// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestPlaceIsThatOfTheProvider(t *testing.T) {
	s := Site{Config: &v1alpha1.ProviderConfig{}}
	s.Config.Name = "dev"
	if got := s.Place(); got != "dev" {
		t.Errorf("got %q", got)
	}
	s.Provider.Login.Place = func(*v1alpha1.ProviderConfig, provider.Credentials) []string { return []string{"a", "b"} }
	if got := s.Place(); got != "dev (a, b)" {
		t.Errorf("got %q", got)
	}
}

func TestAnotherPlatformIsNotAskedWhatItHolds(t *testing.T) {
	platform := inmemory.New(inmemory.Options{})
	s := Site{Provider: platform.Provider(v1alpha1.ProviderHarvester), Config: &v1alpha1.ProviderConfig{}, Ambient: true}
	s.Config.Status.Platform = "in-memory=first"
	_, err := s.ListHeld(t.Context(), provider.Owner{ClusterID: "1", Cluster: "mgmt"})
	if provider.ReasonOf(err) != request.ReasonPlatformChanged || platform.Calls(inmemory.List) > 0 {
		t.Errorf("%v, %d lists", err, platform.Calls(inmemory.List))
	}
}
