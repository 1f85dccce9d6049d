// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/failure"
)

func TestExamplesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../configs/examples/tenant-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no examples", err)
	}
	for _, file := range files {
		tc, err := Load(file)
		if err != nil || tc.Spec.Workers.Replicas == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestAManifestThatIsNoTenantClusterIsAUsageError(t *testing.T) {
	for reason, tc := range map[string]struct{ content, says string }{
		"another kind":        {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "not a TenantCluster"},
		"an unknown field":    {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: TenantCluster\nmetadata: {name: a}\nspec: {worker: {}}\n", "worker"},
		"an addon of its own": {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: TenantAddon\nmetadata: {name: a}\nspec: {addon: a}\n", "TenantAddon is not served; set spec.addons"},
		"an image":            {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: ImageSync\nmetadata: {name: a}\n", "ImageSync is not served; upload the image"},
		"a policy":            {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: ClusterCreationPolicy\nmetadata: {name: a}\n", "ClusterCreationPolicy is not served; set resourceLimits"},
		"a workspace":         {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: Workspace\nmetadata: {name: a}\n", "Workspace is not served"},
		"no name":             {"apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: TenantCluster\n", "metadata.name is required"},
	} {
		t.Run(reason, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tenant.yaml")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), tc.says) || failure.KindOf(err) != failure.Usage {
				t.Errorf("%v", err)
			}
		})
	}
}
