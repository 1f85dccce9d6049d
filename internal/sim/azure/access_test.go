// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/golang-jwt/jwt/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// get asks for a token.
func get(t *testing.T, c azcore.TokenCredential, err error) error {
	t.Helper()
	cloudtest.Must(t, err)
	_, err = c.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://management.core.windows.net//.default"}})
	return err
}

func contains(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func TestTokensBySecret(t *testing.T) {
	f := start(t, azure.Seed{})
	tenant, client, secret := f.Credential(t, v1alpha1.KeyTenantID), f.Credential(t, v1alpha1.KeyClientID), f.Credential(t, v1alpha1.KeyClientSecret)
	o := &azidentity.ClientSecretCredentialOptions{ClientOptions: f.clientOptions()}
	for what, c := range map[string]struct{ tenant, client, secret, want string }{
		"right":          {tenant, client, secret, ""},
		"wrong secret":   {tenant, client, "guess", "AADSTS7000215"},
		"unknown client": {tenant, subscription, secret, "AADSTS700016"},
		"unknown tenant": {subscription, client, secret, "AADSTS90002"},
	} {
		credential, err := azidentity.NewClientSecretCredential(c.tenant, c.client, c.secret, o)
		contains(t, what, get(t, credential, err), c.want)
	}
	expired := start(t, azure.Seed{SecretExpired: true})
	credential, err := azidentity.NewClientSecretCredential(tenant, client, expired.Credential(t, v1alpha1.KeyClientSecret), &azidentity.ClientSecretCredentialOptions{ClientOptions: expired.clientOptions()})
	contains(t, "expired secret", get(t, credential, err), "AADSTS7000222")
}

func certificate(t *testing.T) (*x509.Certificate, *rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	cloudtest.Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "butler"}, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	cloudtest.Must(t, err)
	parsed, err := x509.ParseCertificate(raw)
	cloudtest.Must(t, err)
	return parsed, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

func TestTokensByCertificate(t *testing.T) {
	right, key, text := certificate(t)
	wrong, wrongKey, _ := certificate(t)
	f := start(t, azure.Seed{Certificate: text})
	o := &azidentity.ClientCertificateCredentialOptions{ClientOptions: f.clientOptions()}
	for what, c := range map[string]struct {
		certificate *x509.Certificate
		key         *rsa.PrivateKey
		want        string
	}{"right": {right, key, ""}, "another certificate": {wrong, wrongKey, "AADSTS700027"}} {
		credential, err := azidentity.NewClientCertificateCredential(f.Credential(t, v1alpha1.KeyTenantID), f.Credential(t, v1alpha1.KeyClientID), []*x509.Certificate{c.certificate}, c.key, o)
		contains(t, what, get(t, credential, err), c.want)
	}
}

// An assertion that names the certificate, and that another key has signed.
func TestSignatureOfAssertionsIsVerified(t *testing.T) {
	right, _, text := certificate(t)
	_, other, _ := certificate(t)
	f := start(t, azure.Seed{Certificate: text})
	client, tenant := f.Credential(t, v1alpha1.KeyClientID), f.Credential(t, v1alpha1.KeyTenantID)
	credential, err := azidentity.NewClientAssertionCredential(tenant, client, func(context.Context) (string, error) {
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
			Issuer: client, Subject: client, Audience: jwt.ClaimStrings{"https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token"}, ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Minute)),
		})
		sum := sha256.Sum256(right.Raw)
		token.Header["x5t#S256"] = base64.RawURLEncoding.EncodeToString(sum[:])
		return token.SignedString(other)
	}, &azidentity.ClientAssertionCredentialOptions{ClientOptions: f.clientOptions()})
	contains(t, "another key", get(t, credential, err), "AADSTS700027: Client assertion failed signature validation")
}

func TestTokensByFederation(t *testing.T) {
	_, key, _ := certificate(t)
	_, other, _ := certificate(t)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	cloudtest.Must(t, err)
	f := start(t, azure.Seed{Federated: []azure.Federation{{
		Issuer: "https://issuer.example.com", Subject: "system:butler", PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
	}}})
	good := jwt.RegisteredClaims{
		Issuer: "https://issuer.example.com", Subject: "system:butler", Audience: jwt.ClaimStrings{"api://AzureADTokenExchange"}, ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Minute)),
	}
	another, ended := good, good
	another.Subject, ended.ExpiresAt = "system:other", jwt.NewNumericDate(time.Now().Add(-time.Minute))
	for what, c := range map[string]struct {
		claims jwt.RegisteredClaims
		key    *rsa.PrivateKey
		want   string
	}{"right": {good, key, ""}, "another subject": {another, key, "AADSTS700213"}, "ended": {ended, key, "AADSTS700024"}, "another key": {good, other, "AADSTS7002381"}} {
		credential, err := azidentity.NewClientAssertionCredential(f.Credential(t, v1alpha1.KeyTenantID), f.Credential(t, v1alpha1.KeyClientID), func(context.Context) (string, error) {
			return jwt.NewWithClaims(jwt.SigningMethodRS256, c.claims).SignedString(c.key)
		}, &azidentity.ClientAssertionCredentialOptions{ClientOptions: f.clientOptions()})
		contains(t, what, get(t, credential, err), c.want)
	}
}

func codeOf(body string) string {
	var e struct {
		Error struct{ Code string }
	}
	_ = json.Unmarshal([]byte(body), &e)
	return e.Error.Code
}

func TestCallsAreCheckedBeforeTheyAreCarriedOut(t *testing.T) {
	f := start(t, azure.Seed{})
	token := f.token(t)
	group := "/subscriptions/" + subscription + "/resourceGroups/example"
	for what, c := range map[string]struct {
		method, path, token, body string
		status                    int
		want                      string
	}{
		"no token":                        {"GET", group + "?api-version=2021-04-01", "", "", 401, "AuthenticationFailed"},
		"no such token":                   {"GET", group + "?api-version=2021-04-01", "a.b.c", "", 401, "InvalidAuthenticationToken"},
		"no version":                      {"GET", group, token, "", 400, "MissingApiVersionParameter"},
		"no such version":                 {"GET", group + "?api-version=1999-01-01", token, "", 400, "InvalidApiVersionParameter"},
		"version of a type":               {"GET", resources + "Microsoft.Compute/virtualMachines?api-version=2021-04-02", token, "", 400, "NoRegisteredProviderFound"},
		"no such subscription":            {"GET", "/subscriptions/x?api-version=2021-04-01", token, "", 404, "SubscriptionNotFound"},
		"no such group":                   {"GET", "/subscriptions/" + subscription + "/resourceGroups/x?api-version=2021-04-01", token, "", 404, "ResourceGroupNotFound"},
		"no such type":                    {"GET", resources + "Microsoft.Compute/toasters?api-version=2024-11-01", token, "", 404, "InvalidResourceType"},
		"unknown property":                {"PUT", resources + "Microsoft.Compute/virtualMachines/x?api-version=2024-11-01", token, `{"location":"westeurope","properties":{"colour":"red"}}`, 400, "BadRequest"},
		"unknown property of the network": {"PUT", resources + "Microsoft.Network/networkInterfaces/x?api-version=2025-01-01", token, `{"location":"westeurope","colour":"red"}`, 400, "InvalidRequestFormat"},
		"no location":                     {"PUT", resources + "Microsoft.Network/networkInterfaces/x?api-version=2025-01-01", token, `{"properties":{}}`, 400, "LocationRequired"},
		"no parent":                       {"PUT", resources + "Microsoft.Network/virtualNetworks/x/subnets/y?api-version=2025-01-01", token, `{"properties":{}}`, 404, "ParentResourceNotFound"},
		"bad filter":                      {"GET", group + "/resources?api-version=2021-04-01&$filter=what", token, "", 400, "InvalidFilterInQueryString"},
		"method":                          {"DELETE", resources + "Microsoft.Network/networkInterfaces?api-version=2025-01-01", token, "", 405, "MethodNotAllowed"},
	} {
		status, body := f.call(t, c.method, strings.ReplaceAll(c.path, " ", "%20"), c.token, c.body)
		if status != c.status || codeOf(body) != c.want {
			t.Errorf("%s: %d %s, want %d %s", what, status, body, c.status, c.want)
		}
	}
}

// TestToolsFindTheEndpointsOfTheCloud: older versions have a list of clouds, later ones the
// cloud itself. No token is needed.
func TestToolsFindTheEndpointsOfTheCloud(t *testing.T) {
	f := start(t, azure.Seed{})
	for path, first := range map[string]string{"/metadata/endpoints?api-version=2019-05-01": "[", "//metadata/endpoints?api-version=2022-09-01": "{"} {
		status, body := f.call(t, http.MethodGet, path, "", "")
		if status != http.StatusOK || !strings.HasPrefix(body, first) || !strings.Contains(body, `"loginEndpoint":"https://management.azure.com/"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestTokensEnd(t *testing.T) {
	f := start(t, azure.Seed{TokenTime: metav1.Duration{Duration: time.Second}})
	token := f.token(t)
	cloudtest.Until(t, "the token has ended", func() bool {
		status, body := f.call(t, http.MethodGet, "/subscriptions?api-version=2022-12-01", token, "")
		return status == http.StatusUnauthorized && codeOf(body) == "ExpiredAuthenticationToken"
	})
}

func TestRoleOfTheUserIsEnforced(t *testing.T) {
	role := func(actions ...string) json.RawMessage {
		raw, _ := json.Marshal(map[string]any{"Name": "few", "Actions": actions, "NotActions": []string{"*/galleries/*"}})
		return raw
	}
	f := start(t, azure.Seed{Role: role("Microsoft.Network/networkInterfaces/*", "Microsoft.Compute/*/read", "Microsoft.Network/networkSecurityGroups/join/action")})
	_, err := f.net.NewVirtualNetworksClient().Get(t.Context(), "example", "butler", nil)
	expect(t, "read", err, "403 AuthorizationFailed")
	if err != nil && !strings.Contains(err.Error(), "'Microsoft.Network/virtualNetworks/read' over scope '"+strings.TrimSuffix(subnetID, "/subnets/nodes")+"'") {
		t.Errorf("the action is not named: %v", err)
	}
	_, err = f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "one", nic(), nil)
	expect(t, "join", err, "403 LinkedAuthorizationFailed")
	_, err = f.compute.NewGalleriesClient().Get(t.Context(), "example", "x", nil)
	expect(t, "not action", err, "403 AuthorizationFailed")
	_, err = f.compute.NewVirtualMachinesClient().Get(t.Context(), "example", "x", nil)
	expect(t, "wildcard", err, "404 ResourceNotFound")
	scoped := start(t, azure.Seed{RoleScopes: []string{"/subscriptions/" + subscription + "/resourceGroups/example"}})
	_, err = scoped.net.NewVirtualNetworksClient().Get(t.Context(), "example", "butler", nil)
	cloudtest.Must(t, err)
	_, err = scoped.compute.NewResourceSKUsClient().NewListPager(nil).NextPage(t.Context())
	expect(t, "scope", err, "403 AuthorizationFailed")
	status, body := scoped.call(t, http.MethodGet, "/subscriptions/"+subscription+"/resourceGroups/example/providers/Microsoft.Authorization/permissions?api-version=2022-04-01", scoped.token(t), "")
	if status != http.StatusOK || !strings.Contains(body, `"actions":["*"]`) {
		t.Errorf("permissions: %d %s", status, fmt.Sprint(body))
	}
}
