// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// awaitKubernetes finds a control plane whose API server answers, at its own
// address: the endpoint may answer only later. The steps that follow use it.
func awaitKubernetes(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.kubernetes.cluster != nil {
		return nil, nil
	}
	address, err := fromAny(ctx, s, func(ctx context.Context, address string) (string, error) {
		c, err := s.connect(address)
		if err != nil {
			return "", err
		}
		defer c.close()
		return address, c.ready(ctx)
	})
	if err != nil {
		return &Obstacle{Reason: "WaitingForKubernetes", Message: "the new API server is not ready" + step.Because(err), Poll: true}, nil
	}
	s.kubernetes.cluster, err = s.connect(address)
	return nil, err
}

// newCluster is a client of the new API server.
type newCluster struct {
	kubernetes.Interface
	config  *rest.Config
	address string // of the control plane, or empty
	close   func()
}

// connect makes a client of the new API server by way of one control plane, or
// with no address of the endpoint. Either way it has to show a certificate for
// the endpoint.
func (s *Session) connect(address string) (*newCluster, error) {
	config, err := s.restConfig(s.dialHost(address))
	if err != nil {
		return nil, err
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: tls, DialContext: config.Dial}
	c, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: transport, Timeout: exchangeTimeout})
	return &newCluster{Interface: c, config: config, address: address, close: transport.CloseIdleConnections}, err
}

// restConfig is that of the new cluster's administrator.
func (s *Session) restConfig(dial talos.Dialer) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(s.kubernetes.kubeconfig)
	if err != nil {
		return nil, errors.New("the kubeconfig of the new cluster cannot be read")
	}
	config.QPS = -1
	config.Dial = dial
	return config, nil
}

func (s *Session) disconnect() {
	if s.kubernetes.cluster != nil {
		s.kubernetes.cluster.close()
		s.kubernetes.cluster = nil
	}
}

// dialHost connects to the wanted port of the control plane with an address, whatever
// host is asked for, or of what is in front of it.
func (s *Session) dialHost(address string) talos.Dialer {
	if address == "" {
		return s.Dial
	}
	host := s.route(address).Host
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return s.Dial(ctx, network, net.JoinHostPort(host, port))
	}
}

// dialControlPlanes connects to the control plane that answered last, or to any
// other one while that is silent. It outlives the session.
func (s *Session) dialControlPlanes() talos.Dialer {
	first := s.kubernetes.cluster.address
	dials, hosts := []talos.Dialer{s.dialHost(first)}, []string{s.route(first).Host}
	for _, m := range s.controlPlanes() {
		if host := s.route(m.IPAddress).Host; !slices.Contains(hosts, host) {
			dials, hosts = append(dials, s.dialHost(m.IPAddress)), append(hosts, host)
		}
	}
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		for _, dial := range dials {
			if conn, err = within(ctx, dial, network, addr); err == nil || ctx.Err() != nil {
				break
			}
		}
		return conn, err
	}
}

func within(ctx context.Context, dial talos.Dialer, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return dial(ctx, network, addr)
}

// ready asks whether the API server is.
func (c *newCluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	said, err := c.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	if err == nil {
		return nil
	}
	if failing := failingChecks(said); len(failing) > 0 {
		return errors.New("it is starting; these checks fail: " + step.Listed(failing))
	}
	if asked := (*url.Error)(nil); errors.As(err, &asked) {
		err = asked.Err
	}
	return err
}

// failingChecks are those of an API server's report on itself that have not
// passed yet.
func failingChecks(report []byte) (out []string) {
	for line := range strings.Lines(string(report)) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(check, " ")
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}
