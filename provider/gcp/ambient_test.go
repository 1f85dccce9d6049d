// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"net/http"
	"testing"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
)

// TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed, and nowhere else. It is
// reached through the transport of the connection.
func TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "GCE_METADATA_HOST"} {
		t.Setenv(name, "")
	}
	c := f.config()
	access, err := tokensOf("", c, c.Transport.HTTPClient(nil))
	if err != nil {
		t.Fatal(err)
	}
	server := simtest.ServeMetadata(t, "metadata.google.internal:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value, err := access.get(r.Context())
		if err != nil || r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":3599,"token_type":"Bearer"}`, value)
	}))
	server.Serves(t, Provider(), f.config(), 1)
}
