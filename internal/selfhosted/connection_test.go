// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"net"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// TestWhatAClusterAnswersIsDistinguishedFromItsSilence asks an API server that represents a
// cluster that manages itself.
func TestWhatAClusterAnswersIsDistinguishedFromItsSilence(t *testing.T) {
	p := planetest.Start(t, plane.Options{})
	unknown := rest.AnonymousClientConfig(p.Config())
	unknown.BearerToken = "unknown"
	powerless, err := p.Issue(pki.Request{CommonName: "powerless"})
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := rest.CopyConfig(p.Config())
	nowhere.Host = "https://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	bare := planetest.Start(t, plane.Options{Definitions: []*apiextensionsv1.CustomResourceDefinition{}})
	for reason, tc := range map[string]struct {
		config            *rest.Config
		rehearsal         bool
		answered, lasting bool
		says              string
	}{
		"unknown":           {unknown, false, true, true, "; compare the clocks of its nodes with the one here"},
		"without rights":    {powerless, false, true, true, "is forbidden: User \"powerless\" cannot list"},
		"without the kinds": {bare.Config(), false, true, false, "install chart butler-crds on it"},
		"closed":            {nowhere, false, false, false, "dev manages itself, and does not answer: "},
		"closed, for real":  {nowhere, false, false, false, "; check that it is up and reachable from here"},
		"stopped":           {nowhere, true, false, false, "dev manages itself, and its simulated platform is stopped; run the bootstrap command again to start it"},
	} {
		t.Run(reason, func(t *testing.T) {
			c, err := newBoundedClient(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = readOwnBootstrap(t.Context(), workspace.Workspace{Name: "dev", Dir: t.TempDir(), Rehearsal: tc.rehearsal}, c)
			if err == nil || Answered(err) != tc.answered || IsPermanent(err) != tc.lasting || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("answered %t, lasting %t: %v", Answered(err), IsPermanent(err), err)
			}
			if IsPermanent(err) != tc.lasting {
				t.Errorf("it is permanent: %t", IsPermanent(err))
			}
		})
	}
	t.Run("with another cluster", func(t *testing.T) { expectOthersNamed(t, p) })
	t.Run("of which this machine has no kubeconfig", func(t *testing.T) {
		c, err := newBoundedClient(p.Config())
		if err != nil {
			t.Fatal(err)
		}
		lost := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: "dev"}}
		lost.Spec.Cluster.Name = "dev"
		v := &connection{Workspace: workspace.Workspace{Name: "dev"}, local: c, cluster: lost}
		if _, err := v.ask(t.Context()); !IsPermanent(err) || Answered(err) || !strings.Contains(err.Error(), `connect to dev: secrets "dev-kubeconfig" not found`) {
			t.Errorf("answered %t, lasting %t: %v", Answered(err), IsPermanent(err), err)
		}
	})
}

func expectOthersNamed(t *testing.T, p *plane.Plane) {
	t.Helper()
	c, err := newBoundedClient(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := workspace.Workspace{Name: "dev", Dir: t.TempDir()}
	const lost = "dev manages itself, and has lost its ClusterBootstrap"
	if _, err := readOwnBootstrap(t.Context(), w, c); err == nil || !strings.HasPrefix(err.Error(), lost+";") {
		t.Errorf("%v", err)
	}
	other := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: "other"}}
	other.Spec.Provider, other.Spec.ProviderRef.Name = v1alpha1.ProviderHarvester, "harvester"
	other.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: "other", Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	other.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"}
	other.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: strings.Repeat("0a", 32)}
	if err := c.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := readOwnBootstrap(t.Context(), w, c); err == nil || !strings.HasPrefix(err.Error(), lost+", but holds other;") || Answered(err) {
		t.Errorf("%v", err)
	}
}
