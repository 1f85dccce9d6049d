// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/plane"
)

// Join is how a kubelet gets its access to a cluster: with a bootstrap token it asks for a
// certificate, which the cluster approves and signs, or not.
type Join struct {
	Endpoint string // https://host:port
	CA       []byte
	Token    string
	Node     string
	// Server is the name that the API server is asked for; empty: that of the endpoint.
	Server string
	// File keeps certificate and key: a node that has joined does so without a token.
	File string
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// joinTimeout is how long a request may take to be signed before another one is made.
const joinTimeout = 30 * time.Second

// Run returns the access of the node.
func (j Join) Run(ctx context.Context) (*rest.Config, error) {
	kept, err := os.ReadFile(j.File)
	if errors.Is(err, os.ErrNotExist) {
		if kept, err = j.ask(ctx); err == nil {
			err = plane.WriteFile(j.File, kept)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", j.Endpoint, err)
	}
	config := j.config()
	config.CertData, config.KeyData = kept, kept
	return config, nil
}

func (j Join) config() *rest.Config {
	return &rest.Config{Host: j.Endpoint, TLSClientConfig: rest.TLSClientConfig{CAData: j.CA, ServerName: j.Server}, Dial: j.Dial, QPS: 50, Burst: 100}
}

// ask returns certificate and key.
func (j Join) ask(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	key, request, err := j.request()
	if err != nil {
		return nil, err
	}
	config := j.config()
	config.BearerToken = j.Token
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	requests := client.CertificatesV1().CertificateSigningRequests()
	created, err := requests.Create(ctx, request, metav1.CreateOptions{})
	for err == nil && len(created.Status.Certificate) == 0 {
		if slices.ContainsFunc(created.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
			return c.Type == certificatesv1.CertificateDenied || c.Type == certificatesv1.CertificateFailed
		}) {
			return nil, fmt.Errorf("request %s was not granted", created.Name)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("request %s is not signed: %w", created.Name, ctx.Err())
		case <-time.After(probePeriod):
		}
		created, err = requests.Get(ctx, created.Name, metav1.GetOptions{})
	}
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(created.Status.Certificate), key...), nil
}

func (j Join) request() (key []byte, r *certificatesv1.CertificateSigningRequest, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:" + j.Node, Organization: []string{"system:nodes"}},
	}, private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "node-csr-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}, nil
}
