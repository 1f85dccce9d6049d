// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
)

// webhookProbe is a network that does not exist, and a machine that names it.
const webhookProbe = "webhook-probe"

// installWebhooks serves the platform's webhooks and has the API server call them.
func (h *Harvester) installWebhooks(ctx context.Context, c client.Client) error {
	l, err := h.serveWebhooks(c)
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	for _, o := range admission.Configurations("https://"+l.Addr().String(), h.plane.Config().CAData) {
		if err := put(ctx, c, o); err != nil {
			return err
		}
	}
	return nil
}

func (h *Harvester) serveWebhooks(c client.Client) (net.Listener, error) {
	security, err := h.webhookTLS()
	if err != nil {
		return nil, err
	}
	l, err := front.Listen(filepath.Join(h.options.Dir, "webhooks"))
	if err != nil {
		return nil, err
	}
	quiet := slog.NewLogLogger(h.options.Log.Handler(), slog.LevelDebug)
	h.webhooks = &http.Server{Handler: admission.Handler(c), TLSConfig: security, ErrorLog: quiet}
	go func() { _ = h.webhooks.ServeTLS(l, "", "") }() // ends with Close
	return l, nil
}

func (h *Harvester) webhookTLS() (*tls.Config, error) {
	identity, err := h.plane.Issue(pki.Request{CommonName: "virt-api", Names: []string{"127.0.0.1"}, Server: true})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(identity.CertData, identity.KeyData)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, err
}

// awaitWebhooks waits until the API server calls them all: until then it would let pass
// what the platform never does.
func awaitWebhooks(ctx context.Context, c client.Client) error {
	for _, probe := range []struct {
		says  string
		spoil func(*kubevirtv1.VirtualMachine)
	}{
		{"mutator.harvesterhci.io", func(vm *kubevirtv1.VirtualMachine) {
			vm.Spec.Template.Spec.Networks = []kubevirtv1.Network{{
				Name: webhookProbe, NetworkSource: kubevirtv1.NetworkSource{Multus: &kubevirtv1.MultusNetwork{NetworkName: webhookProbe}},
			}}
		}},
		{"virtualmachines-mutator.kubevirt.io", func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template = nil }},
		{"validator.harvesterhci.io", func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Memory = nil }},
		{"virtualmachine-validator.kubevirt.io", func(vm *kubevirtv1.VirtualMachine) { vm.Spec.RunStrategy = nil }},
	} {
		err := await(ctx, "webhook "+probe.says, func() (bool, error) {
			vm := conflictingVM(metav1.NamespaceDefault, webhookProbe)
			probe.spoil(vm)
			err := c.Create(ctx, vm, client.DryRunAll)
			return err != nil && strings.Contains(err.Error(), probe.says), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
