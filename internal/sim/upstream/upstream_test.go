// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// inPod is a program of Longhorn, in a cluster with these objects.
func inPod(c corev1.Container, objects ...client.Object) program {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system"}, Spec: corev1.PodSpec{ServiceAccountName: "longhorn", Containers: []corev1.Container{c}}}
	return program{Client: fake.NewClientBuilder().WithObjects(objects...).Build(), pod: pod, container: c, log: slog.New(slog.DiscardHandler)}
}

func TestProgramsAreKnownByImageAndCommand(t *testing.T) {
	for reason, tc := range map[string]struct {
		container corev1.Container
		want      bool
	}{
		"Cilium's operator":         {corev1.Container{Image: "quay.io/cilium/operator-generic:v1.17.0@sha256:00"}, true},
		"Longhorn's manager":        {corev1.Container{Image: "longhornio/longhorn-manager:v1.7.2", Command: []string{"longhorn-manager", "-d", "daemon"}}, true},
		"in another registry":       {corev1.Container{Image: "mirror:5000/longhornio/longhorn-manager", Args: []string{"deploy-driver"}}, true},
		"the manager of a stand-in": {corev1.Container{Image: "longhornio/longhorn-manager:v1.7.2"}, false},
		"another image":             {corev1.Container{Image: "quay.io/cilium/operator-generic-other:v1"}, false},
	} {
		if got := Plays(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "other"}, tc.container}}}); got != tc.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}

func TestWhatExistsStaysAsItIs(t *testing.T) {
	own := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "longhorn"}, Provisioner: "another"}
	text := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: "longhorn-storageclass"},
		Data:       map[string]string{"storageclass.yaml": "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: longhorn}\nprovisioner: driver.longhorn.io\n"},
	}
	for reason, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"it is created from the text": {[]client.Object{text}, longhornDriverName},
		"it was there":                {[]client.Object{text, own}, own.Provisioner},
	} {
		p := inPod(corev1.Container{}, tc.objects...)
		if err := creates(longhornClass, longhornWebhooks)(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		got := &storagev1.StorageClass{}
		if err := p.Get(t.Context(), client.ObjectKey{Name: "longhorn"}, got); err != nil || got.Provisioner != tc.want {
			t.Errorf("%s: %q, %v", reason, got.Provisioner, err)
		}
	}
}

// TestTheManagerIsFoundByItsServices: the chart's Services select labels that no template has.
func TestTheManagerIsFoundByItsServices(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: "longhorn-manager-1", Labels: map[string]string{"app": "longhorn-manager"}}}
	p := inPod(corev1.Container{}, pod)
	p.pod = pod
	if _, err := longhornLabels(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got := &corev1.Pod{}
	if err := p.Get(t.Context(), client.ObjectKeyFromObject(pod), got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"app": "longhorn-manager", "longhorn.io/admission-webhook": "longhorn-admission-webhook",
		"longhorn.io/conversion-webhook": "longhorn-conversion-webhook", "longhorn.io/recovery-backend": "longhorn-recovery-backend",
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestTheDriverIsAsItsDeployerIsAsked(t *testing.T) {
	p := inPod(corev1.Container{Image: "longhornio/longhorn-manager:v1", Env: []corev1.EnvVar{
		{Name: "CSI_RESIZER_REPLICA_COUNT", Value: "1"}, {Name: "CSI_RESIZER_IMAGE", Value: "mirror/csi-resizer:v2"},
	}})
	objects, err := longhornDriver(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, o := range objects {
		got[o.GetKind()+" "+o.GetName()], _, _ = unstructured.NestedInt64(o.Object, "spec", "replicas")
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if o.GetName() == "csi-resizer" && containers[0].(map[string]any)["image"] != "mirror/csi-resizer:v2" {
			t.Errorf("containers %v", containers)
		}
	}
	want := map[string]int64{
		"CSIDriver driver.longhorn.io": 0, "DaemonSet longhorn-csi-plugin": 0, "Deployment csi-attacher": 3,
		"Deployment csi-provisioner": 3, "Deployment csi-resizer": 1, "Deployment csi-snapshotter": 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClaimsOfTheDriverGetVolumes(t *testing.T) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "longhorn"}, Provisioner: longhornDriverName, ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete)}
	claim := func(name, asked, bound string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-of-" + name), Annotations: map[string]string{provisionerAnnotation: asked}},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new(class.Name), VolumeName: bound,
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("8Gi")}},
			},
		}
	}
	released := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "released"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: longhornDriverName}},
	}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased}}
	kept := released.DeepCopy()
	kept.Name, kept.Spec.PersistentVolumeReclaimPolicy = "kept", corev1.PersistentVolumeReclaimRetain

	p := inPod(corev1.Container{}, class, released, kept)
	v := volumes{program: p, driver: longhornDriverName, claims: corelisters.NewPersistentVolumeClaimLister(indexed(
		claim("data", longhornDriverName, ""), claim("bound", longhornDriverName, "there"), claim("foreign", "other", ""),
	)), existing: corelisters.NewPersistentVolumeLister(indexed(released, kept))}
	for range 2 { // the second pass finds its own volume
		if err := v.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := &corev1.PersistentVolumeList{}
	if err := p.List(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, pv := range all.Items {
		got[pv.Name] = ""
		if pv.Spec.ClaimRef != nil {
			got[pv.Name] = pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name + " " + pv.Spec.Capacity.Storage().String()
		}
	}
	if diff := cmp.Diff(map[string]string{"kept": "", "pvc-uid-of-data": "ns/data 8Gi"}, got); diff != "" {
		t.Error(diff)
	}
	if err := p.Get(t.Context(), client.ObjectKey{Name: "released"}, released); !apierrors.IsNotFound(err) {
		t.Errorf("a released volume: %v", err)
	}
}

func indexed(objects ...any) cache.Indexer {
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, o := range objects {
		_ = i.Add(o)
	}
	return i
}
