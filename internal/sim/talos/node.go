// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"golang.org/x/sync/errgroup"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// node is one start of a configured node.
type node struct {
	world     *World
	machine   datacenter.Machine
	disk      disk
	config    config.Provider
	cluster   *formation
	log       *slog.Logger
	bootstrap chan struct{}
	restart   context.CancelCauseFunc

	mu         sync.Mutex
	booted     bool // as far as etcd can be bootstrapped
	starting   bool // bootstrapped, and etcd has no data so far
	etcdUp     bool
	kubeletUp  bool
	etcdReason string
}

// run lives until the power goes, or a restart was asked for.
func (n *node) run(power context.Context) error {
	ctx, restart := context.WithCancelCause(power)
	defer restart(nil)
	n.restart = restart
	n.log.Info("talos starts", "hostname", n.hostname(), "role", n.config.Machine().Type())
	if n.isControlPlane() {
		n.cluster.trust(n.machine.ID, n.talosCA())
		defer n.cluster.distrust(n.machine.ID)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.serve(groupCtx, power) })
	group.Go(func() error { return n.runKubernetes(groupCtx) })
	err := group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (n *node) serve(ctx, power context.Context) error {
	config, err := n.tls(ctx)
	if err != nil {
		return err
	}
	resources, err := resources(ctx, n.machine, runtime.MachineStageRunning)
	if err != nil {
		return err
	}
	a := api{machine: &machined{node: n}, resources: resources, options: n.authorization()}
	return a.serve(ctx, power, n.machine, config)
}

// tls is that of the configuration. A worker has no key of the CA and waits
// for a control plane to sign its certificate.
func (n *node) tls(ctx context.Context) (*tls.Config, error) {
	ca := n.talosCA()
	if len(ca.Key) == 0 {
		var err error
		if ca, err = n.cluster.awaitTrust(ctx); err != nil {
			return nil, err
		}
	}
	names := append([]string{n.address().String(), n.hostname()}, n.config.Machine().Security().CertSANs()...)
	certificate, err := serverCertificate(ca, names...)
	if err != nil {
		return nil, fmt.Errorf("certificate of the talos API: %w", err)
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(ca.Cert) {
		return nil, errors.New("the talos CA of the configuration is not a certificate")
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
	}, nil
}

func (n *node) talosCA() pki.CA {
	ca := n.config.Machine().Security().IssuingCA()
	return pki.CA{Cert: ca.Crt, Key: ca.Key}
}

func (n *node) address() netip.Addr { return n.machine.Address.Addr() }

func (n *node) isControlPlane() bool { return n.config.Machine().Type().IsControlPlane() }

// hostname falls back to one that is made from the machine's identity.
func (n *node) hostname() string {
	if named := n.config.NetworkHostnameConfig(); named != nil && named.Hostname() != "" {
		return named.Hostname()
	}
	id := strings.ToLower(strings.ReplaceAll(n.machine.ID, "-", ""))
	return "talos-" + id[:min(len(id), 6)]
}

// sharedIPs are the virtual addresses of the configuration, old and new form.
func (n *node) sharedIPs() []netip.Addr {
	var shared []netip.Addr
	for _, vip := range n.config.NetworkVirtualIPConfigs() {
		shared = append(shared, vip.VIP())
	}
	for _, device := range n.config.Machine().Network().Devices() {
		if vip := device.VIPConfig(); vip != nil {
			if address, err := netip.ParseAddr(vip.IP()); err == nil {
				shared = append(shared, address)
			}
		}
	}
	return slices.Compact(shared)
}

// imageTag is the version behind an image's name.
func imageTag(image string) string {
	if i := strings.LastIndex(image, ":"); i >= 0 {
		return image[i+1:]
	}
	return ""
}

func (n *node) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// pause waits for d; it reports false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
