// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartsHaveTheVersionThatIsLinked(t *testing.T) {
	got := linked(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.com/other", Version: "v1.0.0"},
		{Path: "helm.sh/helm/v4", Version: "v4.2.4"},
		{Path: "k8s.io/kubernetes", Version: "v1.36.2", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.36.3"}},
	}})
	want := []Part{
		{Name: "Kubernetes", Module: "k8s.io/kubernetes", Version: "v1.36.3"},
		{Name: "Helm", Module: "helm.sh/helm/v4", Version: "v4.2.4"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
