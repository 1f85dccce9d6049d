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

// TestCredentialsOfTheCloudControllerManager has each kind of credentials of the clouds that
// give the manager files or a document.
func TestCredentialsOfTheCloudControllerManager(t *testing.T) {
	const federation = `{"type":"external_account","audience":"a","credential_source":{"file":"/home/me/token"}}`
	gcp, azure := gcpFacts().Platform, azureFacts().Platform
	for reason, tc := range map[string]struct {
		platform    v1alpha1.ProviderConfigSpec
		credentials map[string][]byte
		want        map[string]string // by key of the Secret; empty: refused
		refusal     string
	}{
		"key of a service account": {gcp, secretData("serviceAccountKey", "{1}", "externalAccount", federation), map[string]string{"credentials.json": "{1}"}, ""},
		"another name of the key":  {gcp, secretData("serviceAccount", "{1}"), map[string]string{"credentials.json": "{1}"}, ""},
		"federation": {gcp, secretData("externalAccount", federation, "subjectToken", "t"), map[string]string{
			"credentials.json": `{"audience":"a","credential_source":{"file":"/etc/cloud-credentials/subjectToken","format":{"type":"text"}},"type":"external_account"}`, "subjectToken": "t",
		}, ""},
		"federation without a token": {gcp, secretData("externalAccount", federation), nil, "lack subjectToken"},
		"federation that is no JSON": {gcp, secretData("externalAccount", "x", "subjectToken", "t"), nil, "is not JSON"},
		"no credentials of gcp":      {gcp, secretData("other", "x"), nil, "lack serviceAccountKey"},
		"certificate of azure":       {azure, secretData("tenantID", "t", "clientID", "c", "clientCertificate", "x"), nil, "lack clientSecret"},
		"token of azure":             {azure, secretData("tenantID", "t", "clientID", "c", "federatedToken", "x"), nil, "lack clientSecret"},
		"ambient ones of azure":      {ambient(azureFacts()).Platform, nil, nil, "no managed identity"},
	} {
		spec := cloud(tc.platform.Provider)
		spec.Addons.CAPI.Enabled = new(false)
		f := gcpFacts()
		f.Platform = tc.platform
		addons := resolve(t, spec, f)
		err := CheckCredentials(addons, tc.platform, tc.credentials)
		if (err != nil) != (tc.refusal != "") || err != nil && !strings.Contains(err.Error(), tc.refusal) {
			t.Errorf("%s: %v, want %q", reason, err, tc.refusal)
		}
		if tc.want == nil {
			continue
		}
		data, err := find(t, addons, CloudControllerManager).Secret.Data(tc.credentials)
		if err != nil || len(data) != len(tc.want) {
			t.Errorf("%s: %d keys, %v", reason, len(data), err)
		}
		for key, want := range tc.want {
			if got := string(data[key]); got != want {
				t.Errorf("%s: %s is %s", reason, key, got)
			}
		}
	}
}
