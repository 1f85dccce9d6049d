// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// patience is how long the registry has to accept a connection.
const patience = 3 * time.Second

// here is the machine that the nodes would run on.
type here struct {
	OS  string
	UID int
	// Has reports whether an address is one of this machine.
	Has  func(netip.Addr) bool
	Dial func(address string) error
}

// isLocal reports whether an interface of this machine has an address. The registry of
// another owner may answer at one that none has.
func isLocal(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(one net.Addr) bool {
		p, err := netip.ParsePrefix(one.String())
		return err == nil && p.Addr() == a
	})
}

// refuse returns why a run is not possible here, as one sentence that says what to do.
func (h here) refuse(o options) error {
	switch {
	case h.OS != "linux":
		return fmt.Errorf("nodes are namespaces of Linux, and this is %s; run it on Linux", h.OS)
	case h.UID != 0:
		return errors.New("nodes and their network need root; run it as root")
	case o.Boot == "":
		return errors.New("set BOOT to a command that runs one real Talos node, see docs/contributing/real-talos.md")
	case o.Registry == "":
		return errors.New("set REGISTRY to the registry of the nodes, such as 10.5.0.1:5000, see docs/contributing/real-talos.md")
	}
	if _, err := exec.LookPath(strings.Fields(o.Boot)[0]); err != nil {
		return fmt.Errorf("BOOT is no command that can be run: %w", err)
	}
	a, err := netip.ParseAddrPort(o.Registry)
	if err != nil || !a.Addr().Is4() {
		return fmt.Errorf("REGISTRY must be an IPv4 address of this machine with a port, such as 10.5.0.1:5000, not %s", o.Registry)
	}
	if !h.Has(a.Addr()) {
		return fmt.Errorf("start the registry of the nodes on their bridge: no interface of this machine has the address %s", a.Addr())
	}
	if err := h.Dial(o.Registry); err != nil {
		return fmt.Errorf("start the registry of the nodes, it does not answer: %w", err)
	}
	return nil
}
