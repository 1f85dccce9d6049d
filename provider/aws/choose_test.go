// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "testing"

// sizesOf are named by "name cpu memory", and by what they are.
func someSizes() []size {
	x86, arm := []string{"x86_64"}, []string{"arm64"}
	return []size{
		{name: "t3.xlarge", cpu: 4, memoryMB: 16384, architectures: x86, special: true},
		{name: "m4.xlarge", cpu: 4, memoryMB: 16384, architectures: x86, special: true},
		{name: "m5.large", cpu: 2, memoryMB: 8192, architectures: x86},
		{name: "m5.xlarge", cpu: 4, memoryMB: 16384, architectures: x86},
		{name: "m5d.xlarge", cpu: 4, memoryMB: 16384, architectures: x86, localDisks: true},
		{name: "m7i.xlarge", cpu: 4, memoryMB: 16384, architectures: x86},
		{name: "m7a.xlarge", cpu: 4, memoryMB: 16384, architectures: x86},
		{name: "m7i-flex.xlarge", cpu: 4, memoryMB: 16384, architectures: x86},
		{name: "m7g.xlarge", cpu: 4, memoryMB: 16384, architectures: arm},
		{name: "h7.xlarge", cpu: 4, memoryMB: 16384, architectures: x86},
		{name: "c7i.xlarge", cpu: 4, memoryMB: 8192, architectures: x86},
		{name: "r7i.large", cpu: 2, memoryMB: 16384, architectures: x86},
		{name: "r7i.xlarge", cpu: 4, memoryMB: 32768, architectures: x86},
		{name: "m7i.2xlarge", cpu: 8, memoryMB: 32768, architectures: x86},
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
			best, found := choose(someSizes(), c.cpu, c.memory, c.architecture)
			if best.name != c.want || found != (c.want != "") {
				t.Errorf("%s: %q, want %q", name, best.name, c.want)
			}
		}
	}
}

func TestOrderOfTypes(t *testing.T) {
	for _, pair := range [][2]string{{"m5.xlarge", "m5d.xlarge"}, {"m7i.xlarge", "m5.xlarge"}, {"m7i.xlarge", "m7i-flex.xlarge"}, {"m5.xlarge", "h7.xlarge"}} {
		byName := map[string]size{}
		for _, s := range someSizes() {
			byName[s.name] = s
		}
		if compareSizes(byName[pair[0]], byName[pair[1]]) >= 0 || compareSizes(byName[pair[1]], byName[pair[0]]) <= 0 {
			t.Errorf("%s does not come before %s", pair[0], pair[1])
		}
	}
}

func TestBucketsOfQuotas(t *testing.T) {
	for name, want := range map[string]string{"m7i.large": "L-1216C47A", "t3.micro": "L-1216C47A", "g5.xlarge": "L-DB2E81BA", "p5.48xlarge": "L-417A185B", "x2idn.large": "L-7295265B", "odd": ""} {
		if got := bucketOf(name); got != want {
			t.Errorf("%s counts for %q, want %q", name, got, want)
		}
	}
}
