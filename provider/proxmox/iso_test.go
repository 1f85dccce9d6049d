// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestTheImageIsAReadableISO reads it as a kernel does: the descriptor, the root directory, and
// the names in Rock Ridge entries.
func TestTheImageIsAReadableISO(t *testing.T) {
	files := []file{{"meta-data", "instance-id: o\n"}, {"user-data", strings.Repeat("0123456789", 500)}, {"network-config", ""}}
	b := image("cidata", files)
	at := 16 * sector
	if string(b[at+1:at+6]) != "CD001" || strings.TrimSpace(string(b[at+40:at+72])) != "cidata" {
		t.Fatalf("no descriptor: %q", b[at:at+80])
	}
	if got := int(binary.LittleEndian.Uint32(b[at+80:])) * sector; got != len(b) {
		t.Errorf("the descriptor has %d bytes, the image %d", got, len(b))
	}
	found := map[string]string{}
	root := b[int(binary.LittleEndian.Uint32(b[at+156+2:]))*sector:]
	for root[0] != 0 {
		one := root[:root[0]]
		use := one[33+int(one[32])+(int(one[32])+1)%2:]
		for len(use) > 4 {
			if string(use[:2]) == "NM" {
				from, size := int(binary.LittleEndian.Uint32(one[2:]))*sector, int(binary.LittleEndian.Uint32(one[10:]))
				found[string(use[5:use[2]])] = string(b[from : from+size])
			}
			use = use[use[2]:]
		}
		root = root[root[0]:]
	}
	for _, f := range files {
		if got, ok := found[f.name]; !ok || got != f.content {
			t.Errorf("%s has %d bytes, want %d", f.name, len(got), len(f.content))
		}
	}
	if len(found) != len(files) {
		t.Errorf("the image has %d files", len(found))
	}
}
