// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

type object = map[string]any

// fixture is a simulated project whose machines open one port.
type fixture struct {
	cloudtest.Fixture

	key   accountKey
	token string
	http  *http.Client
}

// accountKey is the file of a service account's key.
type accountKey struct {
	Email string `json:"client_email"`
	ID    string `json:"private_key_id"`
	Key   string `json:"private_key"`
	URI   string `json:"token_uri"`
}

const (
	project = "butler-sim"
	zone    = "europe-west3-a"
)

func start(t *testing.T, seed gcp.Seed) *fixture { return startIn(t, t.TempDir(), seed) }

func startIn(t *testing.T, dir string, seed gcp.Seed) *fixture {
	t.Helper()
	if seed.Permissions == nil { // what the documented role allows is the driver's concern
		seed.Permissions = []string{"*"}
	}
	f := &fixture{}
	f.Start(t, gcp.Platform(), dir, seed)
	cloudtest.Must(t, json.Unmarshal([]byte(f.Credential(t, v1alpha1.KeyServiceAccountKey)), &f.key))
	f.http = f.Client()
	f.token = f.newToken(t)
	return f
}

// signed is a token that the key of a service account signs.
func (k accountKey) signed(claims object) string {
	part := func(v any) string {
		raw, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(object{"alg": "RS256", "typ": "JWT", "kid": k.ID}) + "." + part(claims)
	block, _ := pem.Decode([]byte(k.Key))
	key, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (k accountKey) claims() object {
	return object{
		"iss": k.Email, "aud": k.URI, "scope": "https://www.googleapis.com/auth/cloud-platform", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
}

// grant asks for an access token.
func (f *fixture) grant(assertion string) (int, object) {
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	r, err := f.http.PostForm("https://oauth2.googleapis.com/token", form)
	if err != nil {
		return 0, object{"error": err.Error()}
	}
	defer r.Body.Close()
	return r.StatusCode, decoded(r.Body)
}

func decoded(r io.Reader) object {
	out := object{}
	_ = json.NewDecoder(r).Decode(&out)
	return out
}

func (f *fixture) newToken(t *testing.T) string {
	t.Helper()
	status, body := f.grant(f.key.signed(f.key.claims()))
	if status != http.StatusOK {
		t.Fatalf("no token: %d %v", status, body)
	}
	return body["access_token"].(string)
}

// call calls Compute Engine; path begins after the project.
func (f *fixture) call(verb, path string, body any) (int, object) {
	return f.request(verb, "https://compute.googleapis.com/compute/v1/projects/"+project+path, body)
}

func (f *fixture) request(verb, address string, body any) (int, object) {
	var content io.Reader
	if body != nil {
		raw, _ := json.Marshal(body)
		content = bytes.NewReader(raw)
	}
	r, err := http.NewRequest(verb, address, content)
	if err != nil {
		return 0, object{"error": err.Error()}
	}
	r.Header.Set("Content-Type", "application/json")
	if f.token != "" {
		r.Header.Set("Authorization", "Bearer "+f.token)
	}
	answer, err := f.http.Do(r)
	if err != nil {
		return 0, object{"error": err.Error()}
	}
	defer answer.Body.Close()
	return answer.StatusCode, decoded(answer.Body)
}

// get returns what a read answers with status 200.
func (f *fixture) get(t *testing.T, path string) object {
	t.Helper()
	status, body := f.call(http.MethodGet, path, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %v", path, status, body)
	}
	return body
}

// do carries a call out and returns its operation when that is done.
func (f *fixture) do(t *testing.T, verb, path string, body any) object {
	t.Helper()
	status, operation := f.call(verb, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %v", verb, path, status, operation)
	}
	return f.wait(t, operation)
}

func (f *fixture) wait(t *testing.T, operation object) object {
	t.Helper()
	link, _ := operation["selfLink"].(string)
	status, done := f.request(http.MethodPost, strings.Replace(link, "www.", "compute.", 1)+"/wait", nil)
	if status != http.StatusOK || done["status"] != "DONE" {
		t.Fatalf("wait for %s: %d %v", link, status, done)
	}
	return done
}

// succeed is do for what must succeed.
func (f *fixture) succeed(t *testing.T, verb, path string, body any) object {
	t.Helper()
	done := f.do(t, verb, path, body)
	if done["error"] != nil {
		t.Fatalf("%s %s: %v", verb, path, done["error"])
	}
	return done
}

// reason is that of a refusal, with its status and text.
func reason(status int, body object) string {
	e, ok := body["error"].(object)
	if !ok {
		return fmt.Sprint(status, " ", body["error"], ": ", body["error_description"])
	}
	errs, _ := e["errors"].([]any)
	if len(errs) == 0 {
		return fmt.Sprint(status, " ", e["message"])
	}
	return fmt.Sprint(status, " ", errs[0].(object)["reason"], ": ", e["message"])
}

// machine is the order of an instance.
func machine(name string) object {
	return object{
		"name": name, "machineType": "zones/" + zone + "/machineTypes/e2-standard-2",
		"disks": []any{object{
			"boot": true, "autoDelete": true,
			"initializeParams": object{"sourceImage": "projects/" + project + "/global/images/talos-v1-9-2-amd64", "diskSizeGb": "20", "diskType": "zones/" + zone + "/diskTypes/pd-balanced"},
		}},
		"networkInterfaces": []any{object{"subnetwork": "regions/europe-west3/subnetworks/default"}},
	}
}
