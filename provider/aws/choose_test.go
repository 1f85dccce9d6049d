// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func TestTypesAreReadFromTheCatalogue(t *testing.T) {
	for name, c := range map[string]struct {
		family     string
		generation int
		special    bool
	}{
		"m7i.xlarge": {"m", 7, false}, "m7i-flex.large": {"m", 7, false}, "c6gd.large": {"c", 6, false},
		"t3.micro": {"t", 3, true}, "u-6tb1.metal": {"u", 6, false}, "odd": {"odd", 0, false},
	} {
		got := sizeOf(types.InstanceTypeInfo{InstanceType: types.InstanceType(name), CurrentGeneration: new(true)})
		if got.Family != c.family || got.Generation != c.generation || got.Special != c.special {
			t.Errorf("%s is %+v, want %+v", name, got, c)
		}
	}
	for name, info := range map[string]types.InstanceTypeInfo{
		"an old generation": {},
		"bare metal":        {CurrentGeneration: new(true), BareMetal: new(true)},
		"burstable":         {CurrentGeneration: new(true), BurstablePerformanceSupported: new(true)},
		"a GPU":             {CurrentGeneration: new(true), GpuInfo: &types.GpuInfo{}},
	} {
		if !sizeOf(info).Special {
			t.Errorf("%s is chosen without being named", name)
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
