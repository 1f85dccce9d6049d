// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
)

// bundle is the file with the authority of the platform.
func (f *fixture) bundle(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(f.API.Admin())
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(content), "ca_bundle = ")
	file, _, _ := strings.Cut(after, "\n")
	return file
}

// TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed, and nowhere else. It is
// reached through the transport of the connection.
func TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CA_BUNDLE", f.bundle(t)) // the SDK refuses clients that it cannot change
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
		_, _ = w.Write([]byte("token"))
	})
	mux.HandleFunc("GET /latest/meta-data/iam/security-credentials/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("nodes")) })
	mux.HandleFunc("GET /latest/meta-data/iam/security-credentials/nodes", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token" {
			t.Errorf("%v", r.Header)
		}
		_, _ = fmt.Fprintf(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Expiration":%q}`,
			f.Secret[v1alpha1.KeyAccessKeyID], f.Secret[v1alpha1.KeySecretAccessKey], time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	server := simtest.ServeMetadata(t, "169.254.169.254:80", mux)
	server.Serves(t, Provider(), f.config(), 3)
}
