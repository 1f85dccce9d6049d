// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/internal/pki"
)

// PKI is what all certificates and tokens of a control plane derive from.
type PKI struct {
	CA, FrontProxyCA  pki.CA
	ServiceAccountKey []byte
}

// certFiles are the files that the components are started with.
type certFiles struct{ dir string }

func (f certFiles) cert(name string) string   { return filepath.Join(f.dir, name+".crt") }
func (f certFiles) key(name string) string    { return filepath.Join(f.dir, name+".key") }
func (f certFiles) config(name string) string { return filepath.Join(f.dir, name+".kubeconfig") }

// preparePKI takes the PKI of the options, or the one that is kept in the
// directory, or makes that.
func (p *Plane) preparePKI() error {
	if p.options.PKI != nil {
		p.pki = *p.options.PKI
		return nil
	}
	authorities := []struct {
		name string
		ca   *pki.CA
	}{{"ca", &p.pki.CA}, {"front-proxy-ca", &p.pki.FrontProxyCA}}
	files := certFiles{filepath.Join(p.options.Dir, "pki")}
	for _, a := range authorities {
		var err error
		if *a.ca, err = keptCA(files, a.name); err != nil {
			return err
		}
	}
	key, err := kept(files.key("sa"), pki.NewSigningKey)
	p.pki.ServiceAccountKey = key
	return err
}

// keptCA holds certificate and key in one file, so that neither is ever there
// without the other.
func keptCA(files certFiles, name string) (pki.CA, error) {
	both, err := kept(files.key(name), func() ([]byte, error) {
		ca, err := pki.NewCA("butler-plane-" + name)
		return append(ca.Cert, ca.Key...), err
	})
	return pki.CA{Cert: both, Key: both}, err
}

// kept reads a file, or makes its content once.
func kept(path string, content func() ([]byte, error)) ([]byte, error) {
	data, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		return data, err
	}
	if data, err = content(); err != nil {
		return nil, err
	}
	return data, WriteFile(path, data)
}

// issueFiles makes the certificates of this start; they need not be kept.
func (p *Plane) issueFiles() (certFiles, error) {
	files := certFiles{filepath.Join(p.options.Dir, "run")}
	names, err := p.servingNames()
	if err != nil {
		return files, err
	}
	err = errors.Join(
		WriteFile(files.cert("ca"), certificates(p.pki.CA)),
		WriteFile(files.key("ca"), p.pki.CA.Key),
		WriteFile(files.cert("front-proxy-ca"), certificates(p.pki.FrontProxyCA)),
		WriteFile(files.key("sa"), p.pki.ServiceAccountKey),
		files.issue("apiserver", p.pki.CA, pki.Request{CommonName: "kube-apiserver", Names: names, Server: true}),
		files.issue("front-proxy-client", p.pki.FrontProxyCA, pki.Request{CommonName: "front-proxy-client", Client: true}),
	)
	return files, errors.Join(err, p.issueClients(files))
}

// issueClients writes the kubeconfigs of the administrator and the components.
func (p *Plane) issueClients(files certFiles) error {
	admin, err := p.Issue(pki.Request{CommonName: "admin", Organizations: []string{"system:masters"}})
	if err != nil {
		return err
	}
	p.config = admin
	if err := WriteKubeconfig(p.KubeconfigPath(), admin); err != nil {
		return err
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		// All controllers act under this one name, instead of a service account
		// each; the role of that name would not let them delete anything.
		c, err := p.Issue(pki.Request{CommonName: "system:" + name, Organizations: []string{"system:masters"}})
		if err != nil {
			return err
		}
		if err := WriteKubeconfig(files.config(name), c); err != nil {
			return err
		}
	}
	return nil
}

func (f certFiles) issue(name string, ca pki.CA, r pki.Request) error {
	pair, err := ca.Issue(r)
	if err != nil {
		return err
	}
	return errors.Join(WriteFile(f.cert(name), pair.Cert), WriteFile(f.key(name), pair.Key))
}

// servingNames returns the names of the API server in its certificate.
func (p *Plane) servingNames() ([]string, error) {
	service, err := netip.ParsePrefix(p.options.ServiceCIDR)
	if err != nil {
		return nil, fmt.Errorf("service CIDR: %w", err)
	}
	names := []string{
		"127.0.0.1", "localhost", service.Masked().Addr().Next().String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	return append(names, p.options.Names...), nil
}

func (p *Plane) clientConfig(pair pki.Pair) *rest.Config {
	return &rest.Config{
		Host: "https://" + p.Address(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: certificates(p.pki.CA), CertData: pair.Cert, KeyData: pair.Key,
		},
		// Everything is on one machine: nothing is spared by waiting.
		QPS: -1,
	}
}

// WriteKubeconfig writes a client's configuration as a kubeconfig file.
func WriteKubeconfig(path string, c *rest.Config) error {
	data, err := Kubeconfig(c, "")
	if err != nil {
		return err
	}
	return WriteFile(path, data)
}

// Kubeconfig is a client's configuration as a kubeconfig; all its connections
// go through proxyURL unless that is empty.
func Kubeconfig(c *rest.Config, proxyURL string) ([]byte, error) {
	const name = "butler"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: c.Host, CertificateAuthorityData: c.CAData, ProxyURL: proxyURL,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: c.CertData, ClientKeyData: c.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
}

func hostPort(l *net.TCPListener) (host string, port int) {
	a := l.Addr().(*net.TCPAddr)
	return a.IP.String(), a.Port
}

// certificates is an authority's certificate alone, whatever stands beside it.
func certificates(ca pki.CA) []byte {
	var out []byte
	for rest := ca.Cert; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return out
		}
		if block.Type == "CERTIFICATE" {
			out = append(out, pem.EncodeToMemory(block)...)
		}
	}
}
