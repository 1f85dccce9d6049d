// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// A misspelt field would be dropped by the API server without a word.
func TestObjectsForGCPHaveOnlyFieldsThatKubernetesKnows(t *testing.T) {
	for _, f := range []Facts{gcpFacts(), ambient(gcpFacts())} {
		for _, o := range find(t, resolve(t, cloud(v1alpha1.ProviderGCP), f), CloudControllerManager).Objects {
			data, err := json.Marshal(o.DeepCopy().Object)
			if err != nil {
				t.Fatal(err)
			}
			typed := map[string]any{
				"ServiceAccount": &corev1.ServiceAccount{}, "ConfigMap": &corev1.ConfigMap{}, "DaemonSet": &appsv1.DaemonSet{},
				"ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{}, "RoleBinding": &rbacv1.RoleBinding{},
			}[o.GetKind()]
			if typed == nil {
				t.Errorf("%s is of no kind that is known here", o.GetKind())
				continue
			}
			if err := yaml.UnmarshalStrict(data, typed); err != nil {
				t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
	}
}

func TestGCPAsksTheMetadataServerOnlyWithoutCredentials(t *testing.T) {
	with := gcpCloudConfig(cluster{cloud(v1alpha1.ProviderGCP), gcpFacts()})
	without := gcpCloudConfig(cluster{cloud(v1alpha1.ProviderGCP), ambient(gcpFacts())})
	if !strings.Contains(with, "token-url = nil\n") || strings.Contains(without, "token-url") {
		t.Errorf("with credentials:\n%swithout:\n%s", with, without)
	}
	if !strings.Contains(with, "node-tags = butler\nnode-tags = nodes\n") {
		t.Errorf("tags are missing:\n%s", with)
	}
}
