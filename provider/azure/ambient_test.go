// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
)

// TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed, and nowhere else. It is
// reached through the transport of the connection.
func TestTheMetadataServerIsAskedWhereAmbientCredentialsAreAllowed(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	for _, name := range []string{"IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IMDS_ENDPOINT", "MSI_ENDPOINT", "MSI_SECRET", "AZURE_POD_IDENTITY_AUTHORITY_HOST"} {
		t.Setenv(name, "")
	}
	api, err := newClients("", f.config())
	if err != nil {
		t.Fatal(err)
	}
	defer api.release()
	server := simtest.ServeMetadata(t, "169.254.169.254:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := r.URL.Query().Get("resource")
		got, err := api.credential.GetToken(r.Context(), policy.TokenRequestOptions{Scopes: []string{of + "/.default"}})
		if err != nil || r.Header.Get("Metadata") != "true" || r.URL.Path != "/metadata/identity/oauth2/token" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":"3599","expires_on":"%d","resource":%q,"token_type":"Bearer"}`, got.Token, got.ExpiresOn.Unix(), of)
	}))
	server.Serves(t, Provider(), f.config(), 1)
}
