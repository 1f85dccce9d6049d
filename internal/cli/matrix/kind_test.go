// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package matrix

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/image/archive"
	"github.com/butlerdotdev/butler/internal/image/imagetest"
	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	simcluster "github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/version"
)

// kindCluster is a cluster of one node that plays a KIND cluster: a real control plane, and
// a kubelet that runs this project's images as processes on the simulated network.
type kindCluster struct {
	*testing.T
	dir string
	client.Client
}

func newKindCluster(a *adm) kindCluster {
	a.Helper()
	p, err := plane.Start(a.Context(), plane.Options{
		Dir: filepath.Join(a.tmp, "kind-plane"), Executable: a.path, Scheduler: true, Definitions: []*apiextensionsv1.CustomResourceDefinition{},
		Controllers: []string{"deployment-controller", "replicaset-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller", "garbage-collector-controller", "namespace-controller", "node-lifecycle-controller"},
	})
	if err != nil {
		a.Fatal(err)
	}
	k := kindCluster{T: a.T, dir: a.TempDir()}
	k.run(a, p)
	k.must(plane.WriteKubeconfig(filepath.Join(k.dir, "kubeconfig"), p.Config()))
	scheme, err := program.Scheme()
	k.must(err)
	k.Client, err = client.New(p.Config(), client.Options{Scheme: scheme})
	k.must(err)
	return k
}

// run has a kubelet work until the test ends, and the plane a moment longer.
func (k kindCluster) run(a *adm, p *plane.Plane) {
	command := fmt.Sprintf(`exec %s controller --network "$(cat %s)" --ca %s "$@"`, a.path, a.state("sim/proxy"), a.state("sim/authority/ca.crt"))
	kubelet := simcluster.NewKubelet(
		simcluster.Node{Name: "kind", Address: netip.MustParseAddr("10.99.0.2"), CPU: 4, MemoryMB: 8192, KubeletVersion: "v1.36.3"},
		simcluster.Options{
			Controllers: simcluster.Controllers{Command: []string{"/bin/sh", "-c", command, "sh"}, Dir: filepath.Join(a.tmp, "kind-pods")},
			Log:         slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
	config, err := p.Issue(pki.Request{CommonName: "system:node:kind", Organizations: []string{"system:nodes"}})
	k.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	access := simcluster.Access{Config: config, Range: func(context.Context) (netip.Prefix, error) { return netip.MustParsePrefix("10.98.0.0/24"), nil }}
	go func() { ended <- kubelet.Run(ctx, access) }()
	k.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			k.Error(err)
		}
		kubelet.Stop()
		if err := p.Stop(); err != nil {
			k.Error(err)
		}
	})
}

func (k kindCluster) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// replicas are those of the controllers, by name.
func (k kindCluster) replicas() map[string]int32 {
	k.Helper()
	var all appsv1.DeploymentList
	k.must(k.List(k.Context(), &all, client.InNamespace("butler-system")))
	out := map[string]int32{}
	for _, d := range all.Items {
		out[d.Name] = *d.Spec.Replicas
	}
	return out
}

func (k kindCluster) expectControllers(want int32) {
	k.Helper()
	got := k.replicas()
	for _, name := range []string{"butler-bootstrap", "butler-controller", "butler-provider-harvester"} {
		if n, found := got[name]; !found || n != want {
			k.Errorf("the replicas are %v, want %d of each", got, want)
		}
	}
}

// images are the names of the images that were loaded.
func (k kindCluster) images() (out string) {
	k.Helper()
	files, err := filepath.Glob(filepath.Join(k.dir, "butler-*", "*.tar"))
	k.must(err)
	for _, f := range files {
		m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(f) })
		k.must(err)
		out += strings.Join(m[0].RepoTags, " ") + " "
	}
	return out
}

// someImages is a file with an image for each controller.
func someImages(a *adm) string {
	a.Helper()
	path := filepath.Join(a.tmp, "images.tar")
	w, err := archive.NewWriter(path, version.Version)
	for _, name := range []string{"butler-bootstrap", "butler-controller", "butler-provider-harvester"} {
		if err == nil {
			_, err = w.Add(imagetest.Set(a.T, name))
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		a.Fatal(err)
	}
	return path
}

// TestAKINDClusterIsThePlane has the controllers of a bootstrap run as pods of another
// cluster, on every way that the embedded plane has: killed, continued, pivoted, destroyed.
func TestAKINDClusterIsThePlane(t *testing.T) {
	a := newAdm(t, platforms()[0], "")
	k := newKindCluster(a)
	order := played(k)
	with := append(a.bootstrap(), "--plane", "kind", "--images", someImages(a))
	if r := a.run(order+",kill@bootstrap/BootstrappingCluster", with...); !r.killed || !strings.Contains(r.err, "controllers run on it") {
		t.Fatalf("killed: %v\n%s", r.killed, r.err)
	}
	k.expectControllers(1) // they outlive the command
	for _, name := range []string{"butler-bootstrap", "butler-controller", "butler-provider-harvester"} {
		if want := "ghcr.io/butlerdotdev/" + name + ":" + version.Version; !strings.Contains(k.images(), want) {
			t.Errorf("loaded are %s, want %s", k.images(), want)
		}
	}
	if r := a.run(order, a.bootstrap()...); r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.err)
	}
	k.expectControllers(0) // the cluster manages itself
	cb := &v1alpha1.ClusterBootstrap{}
	k.must(k.Get(t.Context(), client.ObjectKey{Namespace: a.namespace, Name: cluster}, cb))
	if !v1alpha1.Fenced(cb) {
		t.Errorf("the plane has %v", cb.Annotations)
	}
	if r := a.run(order, a.destroy()...); r.code != 0 || !strings.Contains(r.out, "left 0") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	k.expectControllers(0)
	if r := a.run(order, "forget", cluster, "--yes"); r.code != 0 {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	if left, err := filepath.Glob(filepath.Join(k.dir, "butler-*")); err != nil || len(left) > 0 {
		t.Errorf("the KIND cluster is left: %v, %v", left, err)
	}
}

// played is the order that has commands use a cluster as KIND.
func played(k kindCluster) string { return "kind=" + k.dir }
