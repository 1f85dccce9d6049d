// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestAMachineRunsWithAddressAndIsGoneAgain(t *testing.T) {
	m := connected(t).Machines
	s := wanted("whole", func(s *provider.MachineSpec) {
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 500, StorageClass: "longhorn"}}
		s.UserData, s.NetworkData = "#cloud-config\n", provider.Sensitive(strings.Repeat("n", 3000))
		s.Labels = map[string]string{"butler.butlerlabs.dev/cluster": "butler-mgmt"}
	})
	made := create(t, m, s)
	if made.State != provider.StatePending || made.ID == "" {
		t.Errorf("created machine is %+v", made)
	}
	seen := await(t, m, s.MachineRef, provider.StateRunning)
	if seen.ID != made.ID || len(seen.Addresses) == 0 || seen.MAC == "" {
		t.Errorf("running machine is %+v", seen)
	}
	if diff := cmp.Diff([]v1alpha1.MachineDisk{{Name: "root", Serial: "root"}, {Name: "disk-1", Serial: "disk-1"}}, seen.Disks); diff != "" {
		t.Errorf("disks (-want +got)\n%s", diff)
	}
	again, err := m.Create(t.Context(), s)
	if err != nil || again.ID != made.ID {
		t.Errorf("a second create says %+v, %v", again, err)
	}
	remove(t, m, s.MachineRef)
	if left := objects(t, s.Owner); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := m.Delete(t.Context(), s.MachineRef); err != nil {
		t.Errorf("a repeated delete says %v", err)
	}
}

// objects names everything on Harvester that has the owner's label.
func objects(t *testing.T, o provider.Owner) []string {
	t.Helper()
	var names []string
	for _, list := range []client.ObjectList{
		&kubevirtv1.VirtualMachineList{}, &kubevirtv1.VirtualMachineInstanceList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{},
	} {
		if err := shared.admin.List(t.Context(), list, client.MatchingLabels{tag.OwnerID: o.ID}); err != nil {
			t.Fatal(err)
		}
		switch l := list.(type) {
		case *kubevirtv1.VirtualMachineList:
			for i := range l.Items {
				names = append(names, describe(&l.Items[i]))
			}
		case *kubevirtv1.VirtualMachineInstanceList:
			for i := range l.Items {
				names = append(names, describe(&l.Items[i]))
			}
		case *corev1.PersistentVolumeClaimList:
			for i := range l.Items {
				names = append(names, describe(&l.Items[i]))
			}
		case *corev1.SecretList:
			for i := range l.Items {
				names = append(names, describe(&l.Items[i]))
			}
		}
	}
	return names
}

func TestDisksComeFromTheImageAndTheirClass(t *testing.T) {
	m := connected(t, func(c *provider.Config) { c.Spec.Harvester.StorageClassName = "harvester-longhorn" }).Machines
	s := wanted("disks", func(s *provider.MachineSpec) {
		s.Image = "default/image-5rs6d"
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 7, StorageClass: "longhorn"}, {SizeGB: 8}}
	})
	create(t, m, s)
	got := map[string]string{}
	for _, name := range []string{"disks-root", "disks-disk-1", "disks-disk-2"} {
		c := &corev1.PersistentVolumeClaim{}
		if err := shared.admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, c); err != nil {
			t.Fatal(err)
		}
		got[name] = *c.Spec.StorageClassName + " " + c.Spec.Resources.Requests.Storage().String() + " " + c.Annotations[imageAnnotation]
	}
	want := map[string]string{
		"disks-root":   "longhorn-image-5rs6d 50Gi default/image-5rs6d",
		"disks-disk-1": "longhorn 7Gi ",
		"disks-disk-2": "harvester-longhorn 8Gi ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAConflictingObjectIsAConflictAndStaysUntouched(t *testing.T) {
	conflicting := map[string]client.Object{
		"vm":     conflictingMachine("taken-vm"),
		"disk":   conflictingDisk("taken-disk-root"),
		"secret": &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "taken-secret-cloudinit"}},
	}
	m := connected(t).Machines
	for kind, object := range conflicting {
		t.Run(kind, func(t *testing.T) {
			if err := shared.admin.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			before := object.GetUID()
			s := wanted("taken-"+kind, func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("u", 3000)) })
			_, err := m.Create(t.Context(), s)
			if provider.KindOf(err) != provider.Conflict {
				t.Fatalf("create says %v", err)
			}
			if seen, err := m.Observe(t.Context(), s.MachineRef); err != nil || kind == "vm" && seen.State != provider.StateAbsent {
				t.Errorf("observe says %s, %v", seen.State, err)
			}
			remove(t, m, s.MachineRef)
			if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.GetUID() != before {
				t.Errorf("the conflicting object: %v, uid %s", err, object.GetUID())
			}
			if !object.GetDeletionTimestamp().IsZero() {
				t.Error("the conflicting object is being deleted")
			}
		})
	}
}

func conflictingMachine(name string) *kubevirtv1.VirtualMachine {
	m := &machines{spec: v1alpha1.HarvesterSpec{Namespace: "default", NetworkName: "default/workloads"}}
	vm := m.virtualMachine(wanted(name), disks{})
	vm.Labels, vm.Spec.Template.ObjectMeta.Labels = nil, nil
	halted := kubevirtv1.RunStrategyHalted
	vm.Spec.RunStrategy = &halted
	return vm
}

func conflictingDisk(name string) *corev1.PersistentVolumeClaim {
	m := &machines{spec: v1alpha1.HarvesterSpec{Namespace: "default"}}
	c := m.claim(wanted("x"), name, 10, "longhorn", corev1.ReadWriteMany)
	c.Labels = nil
	return c
}

func TestListFindsMachinesByOwnerAndByCluster(t *testing.T) {
	m := connected(t).Machines
	a := wanted("listed-a")
	b := wanted("listed-b", func(s *provider.MachineSpec) { s.Owner.ClusterID = a.Owner.ClusterID })
	create(t, m, a)
	create(t, m, b)
	// Of b only the disk is left.
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: b.Name}}
	if err := shared.admin.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	await(t, m, b.MachineRef, provider.StatePartial)
	for owner, want := range map[provider.Owner][]string{
		{ID: a.Owner.ID}:               {"listed-a"},
		{ClusterID: a.Owner.ClusterID}: {"listed-a", "listed-b"},
		{ID: "absent"}:                 {},
	} {
		found, err := m.List(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, f := range found {
			names[f.Ref.Name] = true
		}
		if diff := cmp.Diff(want, append([]string{}, sorted(names)...)); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", owner, diff)
		}
	}
	if _, err := m.List(t.Context(), provider.Owner{}); provider.KindOf(err) != provider.Invalid {
		t.Errorf("list without an owner says %v", err)
	}
}

func TestListReportsPartsAndFindsWhatAnOlderDriverMade(t *testing.T) {
	m := connected(t).Machines
	s := wanted("older", func(s *provider.MachineSpec) {
		s.Owner.Cluster = "older-cluster"
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}}
		s.UserData = provider.Sensitive(strings.Repeat("u", 3000))
	})
	create(t, m, s)
	t.Cleanup(func() { tidy(t, m, s.MachineRef) })
	for _, o := range objectsNamed(t, s.Owner.Cluster) {
		if _, machine := o.(*kubevirtv1.VirtualMachine); machine {
			continue
		}
		base := o.DeepCopyObject().(client.Object)
		delete(o.GetLabels(), tag.Cluster)
		if err := shared.admin.Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
	parts := []provider.Part{{Kind: "machine", Name: "older"}, {Kind: "disk", Name: "older-disk-1"}, {Kind: "disk", Name: "older-root"}, {Kind: "secret", Name: "older-cloudinit"}}
	for _, by := range []provider.Owner{{Cluster: "older-cluster"}, {ClusterID: s.Owner.ClusterID}} {
		found, err := m.List(t.Context(), by)
		if err != nil || len(found) != 1 {
			t.Fatalf("%+v: %+v, %v", by, found, err)
		}
		if diff := cmp.Diff(parts, found[0].Parts); diff != "" || found[0].Ref != s.MachineRef {
			t.Errorf("%+v: %+v, parts (-want +got)\n%s", by, found[0].Ref, diff)
		}
	}
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.Name}}
	if err := shared.admin.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	await(t, m, s.MachineRef, provider.StatePartial)
	left, err := m.List(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID})
	if err != nil || len(left) != 1 {
		t.Fatalf("%+v, %v", left, err)
	}
	if diff := cmp.Diff(parts[1:], left[0].Parts); diff != "" || left[0].State != provider.StatePartial {
		t.Errorf("left over is %s, parts (-want +got)\n%s", left[0].State, diff)
	}
}

// objectsNamed are all parts of machines whose cluster has the name.
func objectsNamed(t *testing.T, cluster string) []client.Object {
	t.Helper()
	vms, claims, secrets := &kubevirtv1.VirtualMachineList{}, &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{vms, claims, secrets} {
		if err := shared.admin.List(t.Context(), list, client.MatchingLabels{tag.Cluster: cluster}); err != nil {
			t.Fatal(err)
		}
	}
	var all []client.Object
	for i := range vms.Items {
		all = append(all, &vms.Items[i])
	}
	for i := range claims.Items {
		all = append(all, &claims.Items[i])
	}
	for i := range secrets.Items {
		all = append(all, &secrets.Items[i])
	}
	if len(vms.Items) != 1 || len(claims.Items) != 2 || len(secrets.Items) != 1 {
		t.Fatalf("%d machines, %d disks and %d Secrets carry the cluster's name", len(vms.Items), len(claims.Items), len(secrets.Items))
	}
	return all
}

func TestAMachineThatIsDeletedOrSwitchedOffIsPushed(t *testing.T) {
	p := connected(t)
	halted := kubevirtv1.RunStrategyHalted
	blows := map[string]struct {
		blow func(*kubevirtv1.VirtualMachine) error
		want provider.State
	}{
		"deleted": {func(vm *kubevirtv1.VirtualMachine) error { return shared.admin.Delete(t.Context(), vm) }, provider.StatePartial},
		"off": {func(vm *kubevirtv1.VirtualMachine) error {
			base := vm.DeepCopy()
			vm.Spec.RunStrategy = &halted
			return shared.admin.Patch(t.Context(), vm, client.MergeFrom(base))
		}, provider.StateStopped},
	}
	for name, c := range blows {
		t.Run(name, func(t *testing.T) {
			s := wanted("blow-" + name)
			create(t, p.Machines, s)
			t.Cleanup(func() { tidy(t, p.Machines, s.MachineRef) })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			changes := p.Changes(ctx)
			vm := &kubevirtv1.VirtualMachine{}
			if err := shared.admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: s.Name}, vm); err != nil {
				t.Fatal(err)
			}
			if err := c.blow(vm); err != nil {
				t.Fatal(err)
			}
			// The reconciler looks at each push; one of them must come late enough.
			for ref := range changes {
				if ref.Owner.ID != s.Owner.ID {
					continue
				}
				if seen, err := p.Machines.Observe(t.Context(), s.MachineRef); err == nil && seen.State == c.want {
					return
				}
			}
			t.Errorf("no push showed the machine as %s", c.want)
		})
	}
}

func TestChangesArePushed(t *testing.T) {
	p := connected(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	changes := p.Changes(ctx)
	s := wanted("pushed")
	create(t, p.Machines, s)
	for ref := range changes {
		if ref.Owner.ID == s.Owner.ID {
			if ref != s.MachineRef {
				t.Errorf("pushed %+v, want %+v", ref, s.MachineRef)
			}
			cancel()
			break
		}
	}
	if ctx.Err() == context.DeadlineExceeded {
		t.Error("nothing was pushed")
	}
}

// imageOfCDI creates an image that is no backing image of Longhorn.
func imageOfCDI(t *testing.T) string {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"backend": "cdi", "displayName": "kept-by-cdi", "sourceType": "upload", "targetStorageClassName": "longhorn",
	}}}
	u.SetGroupVersionKind(imageKind())
	u.SetNamespace("default")
	u.SetName("kept-by-cdi")
	if err := shared.admin.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.admin.Delete(context.Background(), u) })
	return "default/kept-by-cdi"
}

func TestWhatCannotBeMadeIsRefusedWithAHint(t *testing.T) {
	cases := map[string]struct {
		config func(*provider.Config)
		spec   func(*provider.MachineSpec)
		reason string
		says   string
	}{
		"missing image": {
			spec:   func(s *provider.MachineSpec) { s.Image = "default/nowhere" },
			reason: "ImageNotFound", says: "upload it"},
		"image that CDI keeps": {
			spec:   func(s *provider.MachineSpec) { s.Image = imageOfCDI(t) },
			reason: "ImageBackendUnsupported", says: "backingimage"},
		"no image": {
			config: func(c *provider.Config) { c.Spec.Harvester.ImageName = "" },
			reason: "ImageMissing", says: "spec.harvester.imageName"},
		"malformed image": {
			spec:   func(s *provider.MachineSpec) { s.Image = "talos" },
			reason: "ImageInvalid", says: "namespace/name"},
		"missing network": {
			config: func(c *provider.Config) { c.Spec.Harvester.NetworkName = "default/nowhere" },
			reason: "NetworkNotFound", says: "spec.harvester.networkName"},
		"missing storage class": {
			spec: func(s *provider.MachineSpec) {
				s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "nowhere"}}
			},
			reason: "StorageClassNotFound", says: "extraDisks"},
		"reserved label": {
			spec:   func(s *provider.MachineSpec) { s.Labels = map[string]string{tag.OwnerID: "me"} },
			reason: "LabelReserved", says: tag.OwnerID},
		"label that is none": {
			spec:   func(s *provider.MachineSpec) { s.Labels = map[string]string{"a": "not a label!"} },
			reason: "PlatformRefused", says: "metadata.labels"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var config []func(*provider.Config)
			if c.config != nil {
				config = append(config, c.config)
			}
			s := wanted("refused")
			if c.spec != nil {
				c.spec(&s)
			}
			_, err := connected(t, config...).Machines.Create(t.Context(), s)
			if provider.KindOf(err) != provider.Invalid || provider.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.says) {
				t.Errorf("create says %s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
			}
			if left := objects(t, s.Owner); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
