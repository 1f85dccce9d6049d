// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
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
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// node is one start of a configured node.
type node struct {
	emulator  *Emulator
	machine   datacenter.Machine
	disk      disk
	config    config.Provider
	cluster   *formation
	log       *slog.Logger
	ready     chan struct{} // closed when booted
	bootstrap chan struct{}
	power     context.Context // ends with the machine, not with a restart
	restart   context.CancelCauseFunc

	mu       sync.Mutex
	booted   bool // as far as etcd can be bootstrapped
	starting bool // bootstrapped, and etcd does not answer so far
	joining  bool // an etcd, so that it cannot be bootstrapped any more
	etcd     etcdState
	loopback []func() // end the addresses on the loopback interface
}

// etcdState is what is known of a control plane's etcd.
type etcdState struct {
	running bool
	learner bool
	healthy bool
	reason  string // why it will not run
}

// run lives until the power goes, or a restart was asked for.
func (n *node) run(power context.Context) error {
	ctx, restart := context.WithCancelCause(power)
	defer restart(nil)
	n.power, n.restart = power, restart
	n.log.Info("talos starts", "hostname", n.hostname(), "role", n.config.Machine().Type())
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.serve(groupCtx) })
	group.Go(func() error { return n.boot(groupCtx) })
	group.Go(func() error { return n.runKubelet(groupCtx) })
	if n.isControlPlane() {
		defer n.appear()()
		group.Go(func() error { return n.runEtcd(groupCtx) })
		for _, vip := range n.sharedIPs() {
			group.Go(func() error { n.holdSharedIP(groupCtx, vip); return nil })
		}
	}
	err := group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// appear makes a control plane's presence known: to workers, to those who know the
// cluster by a name, and to balancers in front of it. In a cloud the name is that of a load
// balancer.
func (n *node) appear() (disappear func()) {
	n.cluster.appear(n)
	ends := []func(){func() { n.cluster.disappear(n) }}
	if host := n.config.Cluster().Endpoint().Hostname(); !isAddress(host) && n.machine.Metadata == nil {
		ends = append(ends, n.emulator.options.Network.Name(host, n.addresses))
	}
	n.takeLoopback(n.config)
	ends = append(ends, n.dropLoopback)
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// boot takes its time until the kubelet runs and etcd can start. Without its disks, its
// address or a way out a node does not get that far.
func (n *node) boot(ctx context.Context) error {
	if err := n.checkUserDisks(); err != nil {
		n.log.Error("talos does not boot", "error", err)
		<-ctx.Done()
		return ctx.Err()
	}
	if err := n.awaitNetwork(ctx); err != nil {
		return err
	}
	if !pause(ctx, n.emulator.options.Profile.Etcd) {
		return ctx.Err()
	}
	n.set(func() { n.booted = true })
	close(n.ready)
	return nil
}

var errTime = errors.New("time is not in sync yet")

// checkNetwork returns an error if the node has no address, or does not get the time: neither
// etcd nor the kubelet starts without. Images of Kubernetes could not be pulled either.
func (n *node) checkNetwork() error {
	switch {
	case !n.address().IsValid():
		return errors.New("the node has no address")
	case n.machine.Stranded():
		return fmt.Errorf("%w: no time server is reached by way of gateway %v", errTime, n.machine.Gateway)
	}
	return nil
}

// awaitNetwork returns once the network is as Talos needs it.
func (n *node) awaitNetwork(ctx context.Context) error {
	for last := ""; ; {
		changed := n.emulator.options.Network.Changed()
		err := n.checkNetwork()
		if err == nil {
			return nil
		}
		if err.Error() != last {
			last = err.Error()
			n.log.Error("talos waits for its network", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (n *node) awaitBooted(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ready:
		return nil
	}
}

func (n *node) serve(ctx context.Context) error {
	config, err := n.tls(ctx)
	if err != nil {
		return err
	}
	resources, err := resources(ctx, n.machine, runtime.MachineStageRunning)
	if err != nil {
		return err
	}
	if err := n.createVolumes(ctx, resources); err != nil {
		return err
	}
	go n.showAPIServer(ctx, resources)
	a := api{machine: &machined{node: n}, resources: resources, options: n.interceptors()}
	return a.serve(ctx, n.power, n.machine, config)
}

// tls is that of the configuration. A worker has no key of the CA and waits
// for a control plane to sign its certificate, which it finds by the endpoint.
func (n *node) tls(ctx context.Context) (*tls.Config, error) {
	ca := n.talosCA()
	if len(ca.Key) == 0 {
		err := n.awaitEndpoint(ctx)
		if err == nil && n.tenant() != nil {
			return n.awaitTrustd(ctx)
		}
		if err == nil {
			ca, err = n.cluster.awaitTrust(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	names := append([]string{n.hostname()}, n.publicAddresses()...)
	if n.address().IsValid() {
		names = append(names, n.address().String())
	}
	certificate, err := serverCertificate(ca, append(names, n.config.Machine().Security().CertSANs()...)...)
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

// source is where the node's connections come from, and those of its pods.
func (n *node) source() network.Source { return network.Source{Address: n.address()} }

func (n *node) addresses() []netip.Addr { return []netip.Addr{n.address()} }

// publicAddresses are those that the platform reports to the node.
func (n *node) publicAddresses() (out []string) {
	for _, a := range n.machine.Public() {
		out = append(out, a.String())
	}
	return out
}

// version is that of the image, whatever the configuration would install: Talos is on
// the disk already.
func (n *node) version() string {
	return cmp.Or(imageNamed(n.machine.Image).version, imageTag(n.config.Machine().Install().Image()))
}

func (n *node) isControlPlane() bool { return n.config.Machine().Type().IsControlPlane() }

// hostname falls back to that of the metadata, and to one that is made from the machine's
// identity.
func (n *node) hostname() string {
	if named := n.config.NetworkHostnameConfig(); named != nil && named.Hostname() != "" {
		return named.Hostname()
	}
	if m := n.machine.Metadata; m != nil && m.Hostname != "" {
		host, _, _ := strings.Cut(m.Hostname, ".")
		return host
	}
	if n.machine.ImagePlatform != "" && len(n.machine.UserData) > 0 {
		return n.machine.Name // of the disk that the user data are on
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

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
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
