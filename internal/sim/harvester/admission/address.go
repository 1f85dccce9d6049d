// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"crypto/rand"
	"fmt"
	"net"

	kubevirtv1 "kubevirt.io/api/core/v1"
)

// addressInterfaces gives a hardware address to each interface without one: random, for
// one interface, locally administered.
func addressInterfaces(interfaces []kubevirtv1.Interface) error {
	for i := range interfaces {
		if interfaces[i].MacAddress != "" {
			continue
		}
		mac := make(net.HardwareAddr, 6)
		if _, err := rand.Read(mac); err != nil {
			return fmt.Errorf("address of interface %q: %w", interfaces[i].Name, err)
		}
		mac[0] = mac[0]&^0x01 | 0x02
		interfaces[i].MacAddress = mac.String()
	}
	return nil
}
