// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

// keep returns the data of a Secret of the control plane, which it creates with what content
// returns if it is not there.
func keep(ctx context.Context, c client.Client, tcp *unstructured.Unstructured, name string, content func() (map[string][]byte, error)) (map[string][]byte, error) {
	s := &corev1.Secret{ObjectMeta: metaOf(tcp, tcp.GetName()+"-"+name)}
	err := c.Get(ctx, client.ObjectKeyFromObject(s), s)
	if !apierrors.IsNotFound(err) {
		return s.Data, err
	}
	if s.Data, err = content(); err != nil {
		return nil, fmt.Errorf("create Secret %s: %w", s.Name, err)
	}
	return s.Data, c.Create(ctx, s)
}

// ensureSecrets has the certificates and kubeconfigs of the control plane.
func (o *operator) ensureSecrets(ctx context.Context, c client.Client, tcp *unstructured.Unstructured, address netip.Addr, endpoint string) (*design, error) {
	d := &design{address: address, service: serviceName(tcp), names: o.names(tcp, address), serviceCIDR: textOf(tcp, "spec", "networkProfile", "serviceCidr")}
	var err error
	if d.pki, err = o.authorities(ctx, c, tcp); err != nil {
		return nil, err
	}
	if _, err := keep(ctx, c, tcp, "admin-kubeconfig", func() (map[string][]byte, error) { return kubeconfigs(d.pki.CA, tcp, endpoint) }); err != nil {
		return nil, err
	}
	if o.hasTrustd(tcp) {
		data, err := keep(ctx, c, tcp, "trustd-creds", func() (map[string][]byte, error) { return trustCredentials(d.names) })
		if err != nil {
			return nil, err
		}
		d.trust = &trust{
			ca:     pki.CA{Cert: data["os-ca.crt"], Key: data["os-ca.key"]},
			server: pki.Pair{Cert: data["server.crt"], Key: data["server.key"]}, token: string(data["token"]),
		}
	}
	return d, nil
}

func (o *operator) names(tcp *unstructured.Unstructured, address netip.Addr) []string {
	names := []string{address.String(), tcp.GetName(), serviceName(tcp)}
	sans, _, _ := unstructured.NestedStringSlice(tcp.Object, "spec", "networkProfile", "certSANs")
	return sortedCompact(append(names, sans...))
}

// authorities are those of the control plane: in Secrets, so that they outlive its data.
func (o *operator) authorities(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) (p plane.PKI, err error) {
	var datastore pki.CA // a local store needs none
	for _, a := range []struct {
		name string
		into *pki.CA
	}{{"ca", &p.CA}, {"front-proxy-ca-certificate", &p.FrontProxyCA}, {"datastore-ca", &datastore}} {
		data, err := keep(ctx, c, tcp, a.name, func() (map[string][]byte, error) {
			ca, err := pki.NewCA("kubernetes-" + a.name)
			return map[string][]byte{"ca.crt": ca.Cert, "ca.key": ca.Key, "tls.crt": ca.Cert, "tls.key": ca.Key}, err
		})
		if err != nil {
			return p, err
		}
		*a.into = pki.CA{Cert: data["ca.crt"], Key: data["ca.key"]}
	}
	data, err := keep(ctx, c, tcp, "sa-certificate", func() (map[string][]byte, error) {
		key, err := pki.NewSigningKey()
		return map[string][]byte{"sa.key": key}, err
	})
	p.ServiceAccountKey = data["sa.key"]
	return p, err
}

// kubeconfigs are the administrator's: by the endpoint of the control plane, and by its name in
// the management cluster.
func kubeconfigs(ca pki.CA, tcp *unstructured.Unstructured, endpoint string) (map[string][]byte, error) {
	pair, err := ca.Issue(pki.Request{CommonName: "kubernetes-admin", Organizations: []string{"system:masters"}, Client: true})
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for key, at := range map[string]string{"admin.conf": endpoint, "admin.svc": net.JoinHostPort(serviceName(tcp), strconv.Itoa(apiServerPort))} {
		out[key], err = clientcmd.Write(clientcmdapi.Config{
			Clusters: map[string]*clientcmdapi.Cluster{tcp.GetName(): {
				Server: "https://" + at, CertificateAuthorityData: ca.Cert,
			}},
			AuthInfos:      map[string]*clientcmdapi.AuthInfo{"kubernetes-admin": {ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}},
			Contexts:       map[string]*clientcmdapi.Context{"kubernetes-admin@" + tcp.GetName(): {Cluster: tcp.GetName(), AuthInfo: "kubernetes-admin"}},
			CurrentContext: "kubernetes-admin@" + tcp.GetName(),
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// serviceName is that of the control plane in the management cluster.
func serviceName(tcp *unstructured.Unstructured) string {
	return tcp.GetName() + "." + tcp.GetNamespace() + ".svc"
}

// trustCredentials are those of steward-trustd, with the organization of its administrator
// that Talos does not accept.
func trustCredentials(names []string) (map[string][]byte, error) {
	ca, err := pki.NewCA("talos")
	if err != nil {
		return nil, err
	}
	server, err := ca.Issue(pki.Request{CommonName: "steward-trustd", Names: names, Server: true})
	if err != nil {
		return nil, err
	}
	admin, err := ca.Issue(pki.Request{CommonName: "admin", Organizations: []string{"steward"}, Client: true})
	if err != nil {
		return nil, err
	}
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	return map[string][]byte{
		"os-ca.crt": ca.Cert, "os-ca.key": ca.Key, "server.crt": server.Cert, "server.key": server.Key,
		"admin.crt": admin.Cert, "admin.key": admin.Key, "token": []byte("butler." + hex.EncodeToString(token)),
	}, nil
}
