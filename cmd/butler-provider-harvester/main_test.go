// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/harvester"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Platform: harvester.Platform(),
		Page:     "contributing/try-a-provider.md",
		Objects:  5, // VirtualMachine, its instance, two disks, a Secret
		Count:    count,
		Running:  running,
	}
}

func TestVersionAndWrongArguments(t *testing.T)   { suite().VersionAndWrongArguments(t) }
func TestARequestRunsAndIsGoneAgain(t *testing.T) { suite().RequestRunsAndIsGoneAgain(t) }

func BenchmarkPendingToRunning(b *testing.B) { suite().PendingToRunning(b) }
func BenchmarkBaseline(b *testing.B)         { suite().Baseline(b) }
func BenchmarkDeletionCalls(b *testing.B)    { suite().DeletionCalls(b) }
func BenchmarkAtRest(b *testing.B)           { suite().AtRest(b) }
func BenchmarkLag(b *testing.B)              { suite().Lag(b) }
func BenchmarkRealistic(b *testing.B)        { suite().Realistic(b) }

func administrator(t testing.TB, api facade.API) client.WithWatch {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", api.Admin())
	providerbinary.Must(t, err)
	c, err := client.NewWithWatch(config, client.Options{})
	providerbinary.Must(t, err)
	return c
}

// count counts all objects on Harvester that machines consist of.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	c := administrator(t, api)
	for kind, group := range map[string]string{
		"VirtualMachine": "kubevirt.io", "VirtualMachineInstance": "kubevirt.io", "PersistentVolumeClaim": "", "Secret": "",
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind + "List"})
		if err := c.List(t.Context(), list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		n += len(list.Items)
	}
	return n
}

// running watches the instances of Harvester.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kubevirt.io/v1")
	list.SetKind("VirtualMachineInstanceList")
	events, err := administrator(t, api).Watch(t.Context(), list, client.InNamespace("default"))
	providerbinary.Must(t, err)
	t.Cleanup(events.Stop)
	names := make(chan string)
	go func() {
		defer close(names)
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok && runs(o) {
				names <- o.GetName()
			}
		}
	}()
	return names
}

// runs reports whether an instance runs and has an address.
func runs(o *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	interfaces, _, _ := unstructured.NestedSlice(o.Object, "status", "interfaces")
	return phase == "Running" && len(interfaces) > 0
}
