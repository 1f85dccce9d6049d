// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestSeedHasWhatTheManifestNames(t *testing.T) {
	cb, pc := &v1alpha1.ClusterBootstrap{}, &v1alpha1.ProviderConfig{}
	cb.Spec.Cluster.ControlPlane.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "fast"}, {SizeGB: 1}}
	cb.Spec.Cluster.Workers = &v1alpha1.NodePool{ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "big"}}}
	pc.Spec.Harvester = &v1alpha1.HarvesterSpec{
		Endpoint: "https://harvester.example.com:8443", Namespace: "vms", NetworkName: "net/a", ImageName: "img/b", StorageClassName: "usual",
	}
	want := Seed{
		Namespaces: []string{"vms"}, Images: []string{"img/b"}, Networks: []string{"net/a"},
		StorageClasses: []string{"usual", "fast", "big"}, Hosts: []string{"harvester.example.com:8443"},
	}
	if diff := cmp.Diff(any(want), Platform().Seed(cb, pc)); diff != "" {
		t.Error(diff)
	}
}
