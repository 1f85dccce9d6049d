// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// TestFurtherAddressesOfAGuestAreShown: an address that a guest takes, and gives back,
// is announced and shown, once each.
func TestFurtherAddressesOfAGuestAreShown(t *testing.T) {
	vip := netip.MustParseAddr("10.40.0.200")
	takes := make(chan bool)
	d := open(t, datacenter.Options{Dir: t.TempDir(), Boot: func(ctx context.Context, m datacenter.Machine) error {
		for {
			select {
			case held := <-takes:
				m.Hold(vip, held)
				m.Hold(vip, held)
			case <-ctx.Done():
				return nil
			}
		}
	}})
	if _, err := d.PowerOn(spec("a")); err != nil {
		t.Fatal(err)
	}
	takes <- true
	id := <-d.Addressed()
	if m, _ := d.Running("a"); id != "a" || len(m.Shared) != 1 || m.Shared[0] != vip {
		t.Errorf("announced %s, shown %v", id, m.Shared)
	}
	takes <- false
	<-d.Addressed()
	if m, _ := d.Running("a"); len(m.Shared) > 0 {
		t.Errorf("still shown: %v", m.Shared)
	}
	select {
	case id := <-d.Addressed():
		t.Errorf("%s is announced again without a change", id)
	default:
	}
}
