// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestAMachineMayBeMigratedAndIsFoundByHarvester(t *testing.T) {
	template := (&machines{}).virtualMachine(wanted("cp-0"), disks{}).Spec.Template
	if got := template.Spec.EvictionStrategy; got == nil || *got != kubevirtv1.EvictionStrategyLiveMigrateIfPossible {
		t.Errorf("eviction strategy %v", got)
	}
	if got := template.ObjectMeta.Labels["harvesterhci.io/vmName"]; got != "cp-0" {
		t.Errorf("label vmName is %q", got)
	}
}

func TestAMachineThatADrainMayShutDownIsStartedAgain(t *testing.T) {
	local := disks{modes: map[string]corev1.PersistentVolumeAccessMode{"a": corev1.ReadWriteMany, "b": corev1.ReadWriteOnce}}
	own := func(s *provider.MachineSpec) { s.Owner.ClusterID = "" }
	cases := map[string]struct {
		spec provider.MachineSpec
		d    disks
		want kubevirtv1.VirtualMachineRunStrategy
	}{
		"a node of a cluster":                          {wanted("a"), disks{}, kubevirtv1.RunStrategyAlways},
		"a machine that cannot be migrated":            {wanted("a", own), local, kubevirtv1.RunStrategyAlways},
		"a machine of its own, which its user stops":   {wanted("a", own), disks{}, kubevirtv1.RunStrategyRerunOnFailure},
		"a node of a cluster that cannot be migrated,": {wanted("a"), local, kubevirtv1.RunStrategyAlways},
	}
	for name, c := range cases {
		if got := *(&machines{}).virtualMachine(c.spec, c.d).Spec.RunStrategy; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestControlPlanesPreferDifferentHosts(t *testing.T) {
	role := func(r v1alpha1.MachineRole) func(*provider.MachineSpec) {
		return func(s *provider.MachineSpec) { s.Role = r }
	}
	s := wanted("cp-0", role(v1alpha1.RoleControlPlane))
	template := (&machines{}).virtualMachine(s, disks{}).Spec.Template
	if template.Spec.Affinity == nil || template.Spec.Affinity.PodAntiAffinity == nil {
		t.Fatal("no anti-affinity")
	}
	terms := template.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(terms) != 1 || terms[0].PodAffinityTerm.TopologyKey != "kubernetes.io/hostname" {
		t.Fatalf("terms %+v", terms)
	}
	want := map[string]string{tag.ClusterID: s.Owner.ClusterID, labelRole: "control-plane"}
	if diff := cmp.Diff(want, terms[0].PodAffinityTerm.LabelSelector.MatchLabels); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for k, v := range want {
		if template.ObjectMeta.Labels[k] != v {
			t.Errorf("the instance has %s=%q: the rule does not find it", k, template.ObjectMeta.Labels[k])
		}
	}
	if a := (&machines{}).virtualMachine(wanted("w-0", role(v1alpha1.RoleWorker)), disks{}).Spec.Template.Spec.Affinity; a != nil {
		t.Errorf("a worker has %+v", a)
	}
}

func TestPreflightWarnsOfACertificateThatIsNotVerified(t *testing.T) {
	p := connected(t, kubeconfig(func(c *clientcmdapi.Config) {
		cluster(c).CertificateAuthorityData, cluster(c).InsecureSkipTLSVerify = nil, true
	}))
	if got := verdicts(t, p)["certificate of Harvester"]; got != provider.Unknown {
		t.Errorf("the certificate is %q", got)
	}
}

func TestFirmwareIsThatOfTheProviderConfig(t *testing.T) {
	for f, want := range map[v1alpha1.HarvesterFirmware]*kubevirtv1.EFI{
		"": nil, v1alpha1.FirmwareBIOS: nil,
		v1alpha1.FirmwareEFI:        {SecureBoot: new(false)},
		v1alpha1.FirmwareSecureBoot: {SecureBoot: new(true)},
	} {
		m := &machines{spec: v1alpha1.HarvesterSpec{Firmware: f}}
		domain := m.virtualMachine(wanted("a"), disks{}).Spec.Template.Spec.Domain
		var got *kubevirtv1.EFI
		if domain.Firmware != nil {
			got = domain.Firmware.Bootloader.EFI
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", f, diff)
		}
		if smm := domain.Features != nil && *domain.Features.SMM.Enabled; smm != (f == v1alpha1.FirmwareSecureBoot) {
			t.Errorf("%q: system management mode %v", f, smm)
		}
	}
}

func TestAccessModeFollowsTheStorageClass(t *testing.T) {
	class := func(provisioner string, parameters, annotations map[string]string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Provisioner: provisioner, Parameters: parameters}
	}
	recorded := func(text string) map[string]string { return map[string]string{modesAnnotation: text} }
	cases := map[string]struct {
		class *storagev1.StorageClass
		want  corev1.PersistentVolumeAccessMode
	}{
		"Longhorn":                        {class(provisionerLonghorn, map[string]string{"migratable": "true"}, nil), corev1.ReadWriteMany},
		"Longhorn that does not migrate":  {class(provisionerLonghorn, map[string]string{"migratable": "false"}, nil), corev1.ReadWriteOnce},
		"LVM":                             {class(provisionerLVM, nil, nil), corev1.ReadWriteOnce},
		"Harvester has a mode on record":  {class("csi.example.com", nil, recorded(`{"Block":["ReadWriteOnce"]}`)), corev1.ReadWriteOnce},
		"Harvester has both on record":    {class(provisionerLVM, nil, recorded(`{"Block":["ReadWriteOnce","ReadWriteMany"]}`)), corev1.ReadWriteMany},
		"the record is on files only":     {class(provisionerLVM, nil, recorded(`{"Filesystem":["ReadWriteMany"]}`)), corev1.ReadWriteOnce},
		"the record cannot be read":       {class(provisionerLVM, nil, recorded("nonsense")), corev1.ReadWriteOnce},
		"a provisioner that is not known": {class("csi.example.com", nil, nil), corev1.ReadWriteMany},
	}
	for name, c := range cases {
		if got := accessMode(c.class); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
