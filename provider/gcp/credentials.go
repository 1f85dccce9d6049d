// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// scope is what access tokens are for; IAM decides about the rest.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// keyServiceAccount is another spelling of the key of the Secret.
const keyServiceAccount = "serviceAccount"

// Types of documents with credentials.
const (
	typeServiceAccount = "service_account"
	typeExternal       = "external_account"
	typeUser           = "authorized_user"
)

// document is a file of credentials of Google's tools, as far as it is used.
type document struct {
	Type         string `json:"type"`
	ClientEmail  string `json:"client_email"`
	PrivateKey   string `json:"private_key"`
	PrivateKeyID string `json:"private_key_id"`
	TokenURI     string `json:"token_uri"`

	Audience         string `json:"audience"`
	SubjectTokenType string `json:"subject_token_type"`
	TokenURL         string `json:"token_url"`
	ImpersonationURL string `json:"service_account_impersonation_url"`
	Source           struct {
		File   string `json:"file"`
		Format struct {
			Type  string `json:"type"`
			Field string `json:"subject_token_field_name"`
		} `json:"format"`
	} `json:"credential_source"`

	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// documentOf returns the document of a Secret; nil means that it has none.
func documentOf(c provider.Config) []byte {
	keys := []string{v1alpha1.KeyServiceAccountKey, v1alpha1.KeyExternalAccount, keyServiceAccount}
	if ref := c.Spec.CredentialsRef; ref != nil && ref.Key != "" {
		keys = append([]string{ref.Key}, keys...)
	}
	return c.Credentials.Get(keys...)
}

// tokensOf returns where access tokens come from: the document of the Secret, else what
// Google's own tools use on this machine, where that is allowed.
func tokensOf(op string, c provider.Config, h *http.Client) (*tokens, error) {
	content := documentOf(c)
	if content == nil && (!c.Credentials.Empty() || !c.Ambient) {
		_, err := c.Credentials.Require(op, v1alpha1.KeyServiceAccountKey, "set it to the JSON key of a service account, or set externalAccount")
		return nil, err
	}
	s := &source{http: h, base: strings.TrimSuffix(c.Spec.GCP.Endpoint, "/"), subject: string(bytes.TrimSpace(c.Credentials.Get(v1alpha1.KeySubjectToken))), files: c.Ambient}
	if content == nil {
		var err error
		if content, err = ambientDocument(); err != nil {
			return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsMissing, err, "log in with gcloud, or set spec.credentialsRef")
		}
		if content == nil {
			return newTokens(s.metadata), nil
		}
	}
	fetch, err := s.fetcher(content)
	if err != nil {
		return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, err, "correct the Secret of the ProviderConfig")
	}
	return newTokens(fetch), nil
}

// source fetches access tokens for one document.
type source struct {
	document
	http *http.Client
	// base replaces the hosts of all services.
	base string
	// subject is a token of another identity provider; files says that it may be read from
	// a file of this machine.
	subject string
	files   bool
}

// fetcher returns how tokens are fetched for a document. Its error repeats nothing of it.
func (s *source) fetcher(content []byte) (func(context.Context) (token, error), error) {
	if err := json.Unmarshal(content, &s.document); err != nil {
		return nil, errors.New("the credentials are not JSON")
	}
	switch s.Type {
	case typeServiceAccount:
		key, err := privateKey(s.PrivateKey)
		if err != nil || s.ClientEmail == "" {
			return nil, errors.New("the key of the service account has no client_email or no private_key that can be read")
		}
		return func(ctx context.Context) (token, error) { return s.assert(ctx, key) }, nil
	case typeExternal:
		if s.Audience == "" || s.SubjectTokenType == "" {
			return nil, errors.New("the configuration of the federation has no audience or no subject_token_type")
		}
		return s.federated, s.checkSubject()
	case typeUser:
		return s.refreshed, nil
	}
	return nil, errors.New("the type of the credentials is not service_account, external_account or authorized_user")
}

// at returns the URL of a service: that of the document, or its path at the endpoint.
func (s *source) at(documented, otherwise string) string {
	wanted := cmp.Or(documented, otherwise)
	if u, err := url.Parse(wanted); err == nil && s.base != "" {
		return s.base + u.EscapedPath()
	}
	return wanted
}

const (
	tokenURI = "https://oauth2.googleapis.com/token"
	stsURL   = "https://sts.googleapis.com/v1/token"
)

// refreshed returns a token of a user who has logged in with gcloud.
func (s *source) refreshed(ctx context.Context) (token, error) {
	return post(ctx, s.http, s.at(s.TokenURI, tokenURI), url.Values{
		"grant_type": {"refresh_token"}, "client_id": {s.ClientID}, "client_secret": {s.ClientSecret}, "refresh_token": {s.RefreshToken},
	})
}

// lifetime is that of the credentials: a subject token ends, and is not renewed.
func lifetime(c provider.Config) provider.Lifetime {
	subject := c.Credentials.Get(v1alpha1.KeySubjectToken)
	var d document
	if json.Unmarshal(documentOf(c), &d) != nil || d.Type != typeExternal || subject == nil {
		return provider.Lifetime{}
	}
	return provider.Lifetime{Temporary: true, Ends: cloud.TokenEnds(string(subject))}
}

// ambientDocument returns the document that Google's own tools use on this machine; nil if
// there is none, so that only the metadata server can have credentials.
func ambientDocument() ([]byte, error) {
	if named := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); named != "" {
		return os.ReadFile(named)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, nil //nolint:nilerr // a process without a home directory has no file there
	}
	config := cmp.Or(os.Getenv("CLOUDSDK_CONFIG"), home+"/.config/gcloud")
	content, err := os.ReadFile(config + "/application_default_credentials.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// metadata returns a token of the service account of the instance that this runs on.
func (s *source) metadata(ctx context.Context) (token, error) {
	host := cmp.Or(os.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/computeMetadata/v1/instance/service-accounts/default/token", host), nil)
	if err != nil {
		return token{}, err
	}
	r.Header.Set("Metadata-Flavor", "Google")
	return issue(s.http, r)
}
