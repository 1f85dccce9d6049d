// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

const loopback = "lo"

// takeLoopback gives the node the addresses that a configuration has on the loopback
// interface: it takes what a load balancer passes through to it, and itself reaches nothing
// else there.
func (n *node) takeLoopback(cfg config.Provider) {
	n.dropLoopback()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, address := range loopbackAddresses(cfg) {
		n.loopback = append(n.loopback, n.machine.Host.Alias(address))
	}
}

func (n *node) dropLoopback() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, drop := range n.loopback {
		drop()
	}
	n.loopback = nil
}

// loopbackAddresses are those of the interface lo, old and new form.
func loopbackAddresses(cfg config.Provider) (own []netip.Addr) {
	for _, link := range cfg.NetworkCommonLinkConfigs() {
		if link.Name() == loopback {
			for _, a := range link.Addresses() {
				own = append(own, a.Address().Addr())
			}
		}
	}
	for _, device := range cfg.Machine().Network().Devices() {
		if device.Interface() == loopback {
			own = append(own, parseAddresses(device.Addresses())...)
		}
	}
	return own
}

// parseAddresses takes them with or without a prefix length, as Talos does.
func parseAddresses(texts []string) (addresses []netip.Addr) {
	for _, text := range texts {
		bare, _, _ := strings.Cut(text, "/")
		if address, err := netip.ParseAddr(bare); err == nil {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// needsRestart reports whether the emulated node would have to restart for another
// configuration. A real one takes more changes without a restart than addresses.
func needsRestart(before, after config.Provider) bool {
	a, errA := withoutInterfaces(before)
	b, errB := withoutInterfaces(after)
	return errA != nil || errB != nil || !bytes.Equal(a, b)
}

func withoutInterfaces(cfg config.Provider) ([]byte, error) {
	bare, err := cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		if network := doc.MachineConfig.MachineNetwork; network != nil { //nolint:staticcheck // the form in which addresses of lo are configured
			network.NetworkInterfaces = nil //nolint:staticcheck // as above
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return bare.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled), encoder.WithOmitEmpty(true))
}
