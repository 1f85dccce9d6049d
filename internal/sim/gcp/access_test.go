// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

const manager = "https://cloudresourcemanager.googleapis.com"

func TestTokensAreGivenToHoldersOfTheKey(t *testing.T) {
	f := start(t, gcp.Seed{})
	other := f.key
	other.ID = "0000"
	claim := func(key string, value any) string { return f.key.signed(with(f.key.claims(), key, value)) }
	good := f.key.signed(f.key.claims())
	for name, c := range map[string]struct{ assertion, want string }{
		"forged":       {good[:len(good)-8] + "AAAAAAAA", "400 invalid_grant: Invalid JWT Signature."},
		"no token":     {"x", "400 invalid_grant: Invalid JWT Signature."},
		"other key":    {other.signed(other.claims()), "400 invalid_grant: Invalid grant: account not found"},
		"unknown":      {claim("iss", "x@example.com"), "400 invalid_grant: Invalid grant: account not found"},
		"other target": {claim("aud", "https://example.com/token"), "400 invalid_grant: Invalid JWT: Failed audience check."},
		"no scope":     {claim("scope", ""), "400 invalid_scope: "},
		"ended":        {claim("exp", time.Now().Add(-time.Minute).Unix()), "400 invalid_grant: Invalid JWT: Token must be a short-lived token"},
		"too long":     {claim("exp", time.Now().Add(2*time.Hour).Unix()), "400 invalid_grant: Invalid JWT: Token must be a short-lived token"},
	} {
		if got := reason(f.grant(c.assertion)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	claims := f.key.claims()
	claims["aud"], claims["sub"] = "https://compute.googleapis.com/", f.key.Email
	delete(claims, "scope")
	for token, want := range map[string]string{"": "401 authError: Request is missing", "ya29.unknown": "401 authError: Request had invalid", f.key.signed(claims): "200"} {
		f.token = token
		if got := reason(f.call(http.MethodGet, instances, nil)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", token, got)
		}
	}
}

func TestTokensEnd(t *testing.T) {
	f := start(t, gcp.Seed{SessionLimit: metav1.Duration{Duration: time.Millisecond}})
	if got := reason(f.call(http.MethodGet, instances, nil)); !strings.HasPrefix(got, "401 authError: ") {
		t.Error(got)
	}
}

func TestFederatedTokensActAsTheAccount(t *testing.T) {
	const audience = "//iam.googleapis.com/projects/415104041262/locations/global/workloadIdentityPools/pool/providers/cluster"
	f := start(t, gcp.Seed{Pools: []string{audience}})
	subject := f.key.signed(object{"iss": "https://issuer.example.com", "sub": "system:serviceaccount:x:y", "aud": audience, "exp": time.Now().Add(time.Hour).Unix()})
	ended := f.key.signed(object{"iss": "https://issuer.example.com", "sub": "x", "exp": 1})
	exchange := func(audience, subject string) (int, object) {
		return f.request(http.MethodPost, "https://sts.googleapis.com/v1/token", object{
			"grantType": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": audience, "scope": "https://www.googleapis.com/auth/cloud-platform",
			"requestedTokenType": "urn:ietf:params:oauth:token-type:access_token", "subjectToken": subject, "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt",
		})
	}
	for want, c := range map[string][2]string{"400 invalid_target: ": {"//other", subject}, "400 invalid_grant: ID Token": {audience, ended}, "400 invalid_grant: Unable": {audience, "x"}} {
		if got := reason(exchange(c[0], c[1])); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	_, body := exchange(audience, subject)
	f.token, _ = body["access_token"].(string)
	address := "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
	scope := object{"scope": []any{"https://www.googleapis.com/auth/cloud-platform"}}
	if got := reason(f.request(http.MethodPost, address+"none@example.com:generateAccessToken", scope)); !strings.HasPrefix(got, "403 forbidden: Permission 'iam.serviceAccounts.getAccessToken' denied") {
		t.Error(got)
	}
	status, body := f.request(http.MethodPost, address+f.key.Email+":generateAccessToken", scope)
	if status != http.StatusOK {
		t.Fatal(status, body)
	}
	f.token = body["accessToken"].(string)
	f.get(t, instances)
}

func TestTheRoleOfTheUserIsEnforced(t *testing.T) {
	needed := []string{
		"compute.instances.create", "compute.disks.create", "compute.subnetworks.use", "compute.images.useReadOnly", "compute.instances.setMetadata",
		"compute.instances.setLabels", "compute.instances.setTags", "compute.zoneOperations.get",
	}
	order := machine("x")
	order["labels"], order["tags"] = object{"a": "b"}, object{"items": []any{"t"}}
	order["metadata"] = object{"items": []any{object{"key": "user-data", "value": "x"}}}
	dir := t.TempDir() // with the key, which takes its time
	for i, missing := range needed {
		permissions := append(append([]string{}, needed[:i]...), needed[i+1:]...)
		f := startIn(t, dir, gcp.Seed{Permissions: permissions})
		status, body := f.call(http.MethodPost, instances, order)
		if missing == "compute.zoneOperations.get" && status == http.StatusOK {
			status, body = f.call(http.MethodGet, fmt.Sprintf("/zones/%s/operations/%s", zone, body["name"]), nil)
		}
		if got := reason(status, body); !strings.HasPrefix(got, "403 forbidden: Required '"+missing+"' permission for 'projects/butler-sim/") {
			t.Errorf("without %s: %s", missing, got)
		}
		cloudtest.Must(t, f.API.Stop())
	}
}

func TestPermissionsAreTested(t *testing.T) {
	f := start(t, gcp.Seed{Permissions: []string{"compute.instances.get"}})
	for _, version := range []string{"/v1", "/v3"} {
		_, body := f.request(http.MethodPost, manager+version+"/projects/"+project+":testIamPermissions", object{"permissions": []any{"compute.instances.get", "compute.instances.create"}})
		if got := fmt.Sprint(body["permissions"]); got != "[compute.instances.get]" {
			t.Errorf("%s: %s", version, got)
		}
	}
	var many []any
	for i := range 101 {
		many = append(many, fmt.Sprintf("compute.instances.p%d", i))
	}
	for want, permissions := range map[string][]any{"400 badRequest: The number": many, "400 badRequest: Permission": {"compute.*"}} {
		if got := reason(f.request(http.MethodPost, manager+"/v1/projects/"+project+":testIamPermissions", object{"permissions": permissions})); !strings.HasPrefix(got, want) {
			t.Error(got)
		}
	}
	for _, path := range []string{"/v1/projects/" + project, "/v1/projects/other", "/v3/projects/other"} {
		if got := reason(f.request(http.MethodGet, manager+path, nil)); !strings.HasPrefix(got, "403 forbidden: The caller does not have permission") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestRegionsThatDoNotExist: a project shows regions of the platform, whatever its seed
// names.
func TestRegionsThatDoNotExist(t *testing.T) {
	f := start(t, gcp.Seed{Region: "nowhere1"})
	for path, want := range map[string]int{
		"/regions/nowhere1": http.StatusBadRequest, "/regions/nowhere1/subnetworks": http.StatusBadRequest, "/zones/nowhere1-a/instances": http.StatusBadRequest,
		"/zones/europe-west3-d/instances": http.StatusBadRequest, "/zones/europe-west1-a/instances": http.StatusBadRequest, "/zones/europe-west3-a/instances": http.StatusOK,
	} {
		if status, body := f.call(http.MethodGet, path, nil); status != want {
			t.Errorf("%s: %s, want %d", path, reason(status, body), want)
		}
	}
	other := start(t, gcp.Seed{Region: "northamerica-south1"})
	if status, body := other.call(http.MethodGet, "/regions/northamerica-south1/subnetworks/default", nil); status != http.StatusOK {
		t.Error(reason(status, body))
	}
}
