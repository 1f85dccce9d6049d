// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/front"
)

// loginPath splits a path of Entra ID into the tenant and the rest; ok is false for others.
func loginPath(text string) (tenant, rest string, ok bool) {
	tenant, rest, _ = strings.Cut(strings.TrimPrefix(text, "/"), "/")
	switch strings.ToLower(rest) {
	case "discovery/instance", "v2.0/.well-known/openid-configuration", ".well-known/openid-configuration", "oauth2/v2.0/token", "oauth2/token", "discovery/v2.0/keys":
		return tenant, strings.ToLower(rest), true
	}
	return "", "", false
}

// login answers calls of Entra ID, and those of the resource manager that need no token.
func (a *Azure) login(w http.ResponseWriter, r *http.Request) bool {
	if strings.EqualFold(path.Clean(r.URL.Path), "/metadata/endpoints") { // tools write two slashes
		writeJSON(w, http.StatusOK, a.endpoints(r))
		return true
	}
	tenant, what, is := loginPath(r.URL.Path)
	if !is {
		return false
	}
	if what == "discovery/instance" {
		writeJSON(w, http.StatusOK, discovery(r))
		return true
	}
	if !a.isTenant(tenant) {
		writeLogin(w, r, tenantNotFound(tenant))
		return true
	}
	switch what {
	case "oauth2/v2.0/token", "oauth2/token":
		a.serveToken(w, r, what == "oauth2/token")
	case "discovery/v2.0/keys":
		writeJSON(w, http.StatusOK, map[string]any{"keys": []any{}}) // tokens are for the resource manager only
	default:
		writeJSON(w, http.StatusOK, a.openID(r, tenant))
	}
	return true
}

// isTenant accepts the tenant, and the names of that of the caller.
func (a *Azure) isTenant(name string) bool {
	return slices.ContainsFunc([]string{a.seed.Tenant, "common", "organizations", "example.onmicrosoft.com"}, func(s string) bool { return strings.EqualFold(s, name) })
}

func self(r *http.Request) string {
	if r.TLS == nil {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// endpoints is the description of the cloud that tools register. Before 2022 it was a list
// of all clouds.
func (a *Azure) endpoints(r *http.Request) any {
	cloud := map[string]any{
		"name": "Simulated", "resourceManager": self(r) + "/", "portal": self(r), "suffixes": map[string]string{},
		"authentication": map[string]any{"loginEndpoint": self(r) + "/", "audiences": a.audiences(), "tenant": "common", "identityProvider": "AAD"},
		"graphAudience":  "https://graph.windows.net/", "microsoftGraphResourceId": "https://graph.microsoft.com/",
	}
	if r.URL.Query().Get("api-version") < "2022" {
		return []any{cloud}
	}
	return cloud
}

// discovery says that the authority that the caller asks about is known.
func discovery(r *http.Request) any {
	endpoint := r.URL.Query().Get("authorization_endpoint")
	host, tenant := "login.microsoftonline.com", "common"
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		host = u.Host
		tenant, _, _ = strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	}
	metadata := []any{map[string]any{
		"preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
		"aliases": []string{"login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"},
	}}
	if host != "login.microsoftonline.com" {
		metadata = append(metadata, map[string]any{"preferred_network": host, "preferred_cache": host, "aliases": []string{host}})
	}
	return map[string]any{
		"tenant_discovery_endpoint": fmt.Sprintf("https://%s/%s/v2.0/.well-known/openid-configuration", host, tenant),
		"api-version":               "1.1", "metadata": metadata,
	}
}

func (a *Azure) openID(r *http.Request, tenant string) any {
	base := self(r) + "/" + tenant
	return map[string]any{
		"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "issuer": self(r) + "/" + a.seed.Tenant + "/v2.0",
		"jwks_uri": base + "/discovery/v2.0/keys", "device_authorization_endpoint": base + "/oauth2/v2.0/devicecode",
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt", "client_secret_basic"},
		"response_types_supported":              []string{"code"}, "subject_types_supported": []string{"pairwise"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "tenant_region_scope": nil, "cloud_instance_name": "microsoftonline.com",
	}
}

// loginError is a refusal of Entra ID.
type loginError struct {
	status     int
	kind       string
	code       int
	text       string
	retryAfter int
}

func (e *loginError) Error() string { return fmt.Sprintf("AADSTS%d: %s", e.code, e.text) }

func tenantNotFound(tenant string) *loginError {
	return &loginError{status: http.StatusBadRequest, kind: "invalid_request", code: 90002, text: fmt.Sprintf("Tenant '%s' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.", tenant)}
}

func writeLogin(w http.ResponseWriter, _ *http.Request, e *loginError) {
	trace, correlation, now := newUUID(), newUUID(), time.Now().UTC().Format("2006-01-02 15:04:05Z")
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(e.retryAfter))
	}
	writeJSON(w, e.status, map[string]any{
		"error": e.kind, "error_description": fmt.Sprintf("%v Trace ID: %s Correlation ID: %s Timestamp: %s", e, trace, correlation, now),
		"error_codes": []int{e.code}, "timestamp": now, "trace_id": trace, "correlation_id": correlation,
		"error_uri": fmt.Sprintf("https://login.microsoftonline.com/error?code=%d", e.code),
	})
}

// serveToken answers a request for a token by client credentials. The older endpoint names
// the audience as a resource, the present one as a scope.
func (a *Azure) serveToken(w http.ResponseWriter, r *http.Request, older bool) {
	form, err := url.ParseQuery(string(front.Body(r)))
	if err != nil || r.Method != http.MethodPost {
		writeLogin(w, r, &loginError{status: http.StatusBadRequest, kind: "invalid_request", code: 900144, text: "The request body must contain the following parameter: 'grant_type'."})
		return
	}
	p, audience, refused := a.grant(form, older, self(r))
	if refused != nil {
		writeLogin(w, r, refused)
		return
	}
	token, expires, err := a.issue(p, audience, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	left := int(time.Until(expires).Round(time.Second).Seconds())
	body := map[string]any{"token_type": "Bearer", "expires_in": left, "ext_expires_in": left, "access_token": token}
	if older {
		body["expires_in"], body["ext_expires_in"] = fmt.Sprint(left), fmt.Sprint(left)
		body["expires_on"], body["resource"] = fmt.Sprint(expires.Unix()), audience
	}
	writeJSON(w, http.StatusOK, body)
}

// grant checks a request for a token.
func (a *Azure) grant(form url.Values, older bool, here string) (*actor, string, *loginError) {
	invalid := func(code int, format string, args ...any) *loginError {
		return &loginError{status: http.StatusBadRequest, kind: "invalid_request", code: code, text: fmt.Sprintf(format, args...)}
	}
	for _, name := range []string{"grant_type", "client_id"} {
		if form.Get(name) == "" {
			return nil, "", invalid(900144, "The request body must contain the following parameter: '%s'.", name)
		}
	}
	if got := form.Get("grant_type"); got != "client_credentials" {
		return nil, "", &loginError{status: http.StatusBadRequest, kind: "unsupported_grant_type", code: 70003, text: fmt.Sprintf("The app requested an unsupported grant type '%s'.", got)}
	}
	audience := form.Get("resource")
	if !older {
		scope := strings.Fields(form.Get("scope"))
		at := slices.IndexFunc(scope, func(s string) bool { return strings.HasSuffix(s, "/.default") })
		if at < 0 {
			return nil, "", &loginError{status: http.StatusBadRequest, kind: "invalid_scope", code: 1002012, text: fmt.Sprintf("The provided value for scope %s is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).", form.Get("scope"))}
		}
		audience = strings.TrimSuffix(scope[at], "/.default")
	}
	p := a.actorWith(form.Get("client_id"))
	if p == nil {
		return nil, "", &loginError{status: http.StatusBadRequest, kind: "unauthorized_client", code: 700016, text: fmt.Sprintf("Application with identifier '%s' was not found in the directory 'Example'. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant.", form.Get("client_id"))}
	}
	if !slices.Contains(a.audiences(), strings.TrimRight(audience, "/")) {
		return nil, "", &loginError{status: http.StatusBadRequest, kind: "invalid_resource", code: 500011, text: fmt.Sprintf("The resource principal named %s was not found in the tenant named Example. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant.", audience)}
	}
	return p, audience, a.proves(p, form, here)
}

// proves checks the proof of who the caller is: a secret, or an assertion.
func (a *Azure) proves(p *actor, form url.Values, here string) *loginError {
	invalid := func(code int, format string, args ...any) *loginError {
		return &loginError{status: http.StatusUnauthorized, kind: "invalid_client", code: code, text: fmt.Sprintf(format, args...)}
	}
	assertion, secret := form.Get("client_assertion"), form.Get("client_secret")
	switch {
	case assertion != "" && form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer":
		return invalid(700023, "The client assertion type '%s' is not supported.", form.Get("client_assertion_type"))
	case assertion != "":
		return a.checkAssertion(p, assertion, here)
	case secret == "":
		return invalid(7000216, "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.")
	case secret != p.Secret:
		return invalid(7000215, "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '%s'.", p.ClientID)
	case a.seed.SecretExpired && p.Name == userName:
		return invalid(7000222, "The provided client secret keys for app '%s' are expired. Visit the Azure portal to create new keys for your app, or consider using certificate credentials for added security.", p.ClientID)
	}
	return nil
}
