// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestTheEndpointOfTheSpecOverridesTheKubeconfig, whose own server does not answer.
func TestTheEndpointOfTheSpecOverridesTheKubeconfig(t *testing.T) {
	connected(t, func(c *provider.Config) {
		kubeconfig(func(k *clientcmdapi.Config) { cluster(k).Server = "https://10.255.0.1:6443" })(c)
		c.Credentials = provider.NewCredentials(map[string][]byte{
			"kubeconfig": c.Credentials.Get("kubeconfig"), "endpoint": []byte("https://harvester.example:6443\n"),
		})
		c.Spec.Harvester.Endpoint = "https://harvester.example:6443"
	})
}

func TestTheKeyOfTheSecretCanBeNamed(t *testing.T) {
	connected(t, func(c *provider.Config) {
		c.Spec.CredentialsRef.Key = "admin.conf"
		c.Credentials = provider.NewCredentials(map[string][]byte{"admin.conf": shared.kubeconfig})
	})
}

func TestConnectRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(*provider.Config)
		kind   provider.Kind
		reason string
	}{
		"no kubeconfig": {
			func(c *provider.Config) { c.Credentials = provider.Credentials{} },
			provider.Unauthorized, "CredentialsIncomplete"},
		"not a kubeconfig": {
			func(c *provider.Config) { c.Credentials = credentials([]byte("{canary")) },
			provider.Invalid, "KubeconfigInvalid"},
		"an empty kubeconfig": {
			func(c *provider.Config) { c.Credentials = credentials([]byte("kind: Config\napiVersion: v1\n")) },
			provider.Invalid, "KubeconfigInvalid"},
		"an unknown user": {
			kubeconfig(func(c *clientcmdapi.Config) {
				user(c).ClientCertificateData, user(c).ClientKeyData, user(c).Token = nil, nil, "canary"
			}),
			provider.Unauthorized, "CredentialsRefused"},
		"no credentials": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).ClientCertificateData, user(c).ClientKeyData = nil, nil }),
			provider.Unauthorized, "PermissionDenied"},
		"another authority": {
			kubeconfig(func(c *clientcmdapi.Config) { cluster(c).CertificateAuthorityData = user(c).ClientCertificateData }),
			provider.Invalid, "CertificateRefused"},
		"an address without a host": {
			kubeconfig(func(c *clientcmdapi.Config) { cluster(c).Server = "https://10.255.0.1:6443" }),
			provider.Unavailable, "PlatformUnreachable"},
		"an endpoint that is not the kubeconfig's": {
			func(c *provider.Config) { c.Spec.Harvester.Endpoint = "https://10.255.0.1:6443" },
			provider.Invalid, "EndpointNotConfirmed"},
		"an exec plugin": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).Exec = &clientcmdapi.ExecConfig{Command: "sh", APIVersion: "v1"} }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"an auth provider": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"a token file": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).TokenFile = "/etc/passwd" }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"a certificate file": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).ClientCertificate = "/etc/passwd" }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"a key file": {
			kubeconfig(func(c *clientcmdapi.Config) { user(c).ClientKey = "/etc/passwd" }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"an authority file": {
			kubeconfig(func(c *clientcmdapi.Config) { cluster(c).CertificateAuthority = "/etc/passwd" }),
			provider.Invalid, "KubeconfigNotSelfContained"},
		"no harvester block": {
			func(c *provider.Config) { c.Spec.Harvester = nil },
			provider.Invalid, "SettingsMissing"},
		"a field without effect": {
			func(c *provider.Config) { c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Gateway: "10.0.0.1"} },
			provider.Invalid, "FieldUnsupported"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Provider().Connect(t.Context(), shared.config(c.change))
			if provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason {
				t.Errorf("%s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
			}
			e, ok := errors.AsType[*provider.Error](err)
			if !ok || e.Hint == "" || strings.Contains(err.Error(), "canary") {
				t.Errorf("error %v has no hint or a secret", err)
			}
		})
	}
}

func credentials(data []byte) provider.Credentials {
	return provider.NewCredentials(map[string][]byte{"kubeconfig": bytes.Clone(data)})
}

// kubeconfig changes the simulator's kubeconfig.
func kubeconfig(change func(*clientcmdapi.Config)) func(*provider.Config) {
	return func(c *provider.Config) {
		k, err := clientcmd.Load(shared.kubeconfig)
		if err != nil {
			panic(err)
		}
		change(k)
		data, err := clientcmd.Write(*k)
		if err != nil {
			panic(err)
		}
		c.Credentials = credentials(data)
	}
}

func user(c *clientcmdapi.Config) *clientcmdapi.AuthInfo {
	return c.AuthInfos[c.Contexts[c.CurrentContext].AuthInfo]
}

func cluster(c *clientcmdapi.Config) *clientcmdapi.Cluster {
	return c.Clusters[c.Contexts[c.CurrentContext].Cluster]
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func TestCloseGivesTheConnectionsUp(t *testing.T) {
	var open atomic.Int64
	p, err := Provider().Connect(t.Context(), shared.config(func(c *provider.Config) {
		c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := shared.Network.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			open.Add(1)
			return &counted{Conn: conn, open: &open}, nil
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if open.Load() == 0 {
		t.Fatal("nothing was opened through the transport")
	}
	p.Close()
	until(t, func() bool { return open.Load() == 0 })
}

func TestNetworkFieldsWithoutEffectAreRefused(t *testing.T) {
	for field, network := range map[string]v1alpha1.ProviderNetworkSpec{
		"poolRefs":    {PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "pool", Priority: 1}}},
		"subnet":      {Mode: v1alpha1.NetworkModeIPAM, Subnet: "10.0.0.0/24"},
		"gateway":     {Gateway: "10.0.0.1"},
		"dnsServers":  {DNSServers: []string{"10.0.0.1"}},
		"timeServers": {TimeServers: []string{"10.0.0.1"}},
	} {
		_, err := Provider().Connect(t.Context(), shared.config(func(c *provider.Config) { c.Spec.Network = &network }))
		if provider.ReasonOf(err) != "FieldUnsupported" || !strings.Contains(err.Error(), "spec.network."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
