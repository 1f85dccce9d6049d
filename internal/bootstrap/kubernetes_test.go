// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const kubeconfigFormat = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://example.com:6443", certificate-authority-data: %s}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`

func TestAnAPIServerThatStartsNamesWhatItIsNotReadyFor(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\nreadyz check failed\n")
	}))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s := &Session{
		ClusterBootstrap: &v1alpha1.ClusterBootstrap{Spec: v1alpha1.ClusterBootstrapSpec{Provider: v1alpha1.ProviderHarvester}},

		kubernetes: kubernetesResults{kubeconfig: fmt.Appendf(nil, kubeconfigFormat, base64.StdEncoding.EncodeToString(ca))},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
	c, err := s.connect("10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	const want = "it is starting; these checks fail: etcd (and 1 more)"
	if err := c.ready(t.Context()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
