// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import "testing"

var order = Families{"m", "c", "r"}

func someSizes() []Size {
	x86, arm := []string{"x86_64"}, []string{"arm64"}
	return []Size{
		{Name: "t3.xlarge", Family: "t", Generation: 3, CPU: 4, MemoryMB: 16384, Architectures: x86, Special: true},
		{Name: "m4.xlarge", Family: "m", Generation: 4, CPU: 4, MemoryMB: 16384, Architectures: x86, Special: true},
		{Name: "m5.large", Family: "m", Generation: 5, CPU: 2, MemoryMB: 8192, Architectures: x86},
		{Name: "m5.xlarge", Family: "m", Generation: 5, CPU: 4, MemoryMB: 16384, Architectures: x86},
		{Name: "m5d.xlarge", Family: "m", Generation: 5, CPU: 4, MemoryMB: 16384, Architectures: x86, LocalDisks: true},
		{Name: "m7i.xlarge", Family: "m", Generation: 7, CPU: 4, MemoryMB: 16384, Architectures: x86},
		{Name: "m7a.xlarge", Family: "m", Generation: 7, CPU: 4, MemoryMB: 16384, Architectures: x86},
		{Name: "m7i-flex.xlarge", Family: "m", Generation: 7, CPU: 4, MemoryMB: 16384, Architectures: x86},
		{Name: "m7g.xlarge", Family: "m", Generation: 7, CPU: 4, MemoryMB: 16384, Architectures: arm},
		{Name: "h7.xlarge", Family: "h", Generation: 7, CPU: 4, MemoryMB: 16384, Architectures: x86},
		{Name: "c7i.xlarge", Family: "c", Generation: 7, CPU: 4, MemoryMB: 8192, Architectures: x86},
		{Name: "r7i.large", Family: "r", Generation: 7, CPU: 2, MemoryMB: 16384, Architectures: x86},
		{Name: "r7i.xlarge", Family: "r", Generation: 7, CPU: 4, MemoryMB: 32768, Architectures: x86},
		{Name: "m7i.2xlarge", Family: "m", Generation: 7, CPU: 8, MemoryMB: 32768, Architectures: x86},
	}
}

func TestTheSmallestTypeIsChosenInTheDocumentedOrder(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, memory  int32
		architecture string
		want         string
	}{
		"general purpose, newest, then by name":     {4, 16384, "x86_64", "m7a.xlarge"},
		"the architecture of the image":             {4, 16384, "arm64", "m7g.xlarge"},
		"fewer processors before less memory":       {2, 16384, "x86_64", "r7i.large"},
		"less memory before general purpose":        {4, 4096, "x86_64", "c7i.xlarge"},
		"more memory than general purpose has":      {4, 20000, "x86_64", "r7i.xlarge"},
		"the next size":                             {5, 16384, "x86_64", "m7i.2xlarge"},
		"nothing is large enough":                   {64, 1024, "x86_64", ""},
		"nothing boots it":                          {1, 1024, "riscv", ""},
		"small machines do not get a burstable one": {1, 1024, "x86_64", "m5.large"},
	} {
		for range 2 {
			best, found := order.Choose(someSizes(), c.cpu, c.memory, c.architecture)
			if best.Name != c.want || found != (c.want != "") {
				t.Errorf("%s: %q, want %q", name, best.Name, c.want)
			}
		}
	}
}

func TestOrderOfTypes(t *testing.T) {
	for _, pair := range [][2]string{{"m5.xlarge", "m5d.xlarge"}, {"m7i.xlarge", "m5.xlarge"}, {"m7i.xlarge", "m7i-flex.xlarge"}, {"m5.xlarge", "h7.xlarge"}} {
		byName := map[string]Size{}
		for _, s := range someSizes() {
			byName[s.Name] = s
		}
		if order.Compare(byName[pair[0]], byName[pair[1]]) >= 0 || order.Compare(byName[pair[1]], byName[pair[0]]) <= 0 {
			t.Errorf("%s does not come before %s", pair[0], pair[1])
		}
	}
}
