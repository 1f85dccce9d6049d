// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
	"github.com/butlerdotdev/butler/provider/serve"
)

// cloud is the provider that has load balancers too: with it, a cluster needs
// all that a provider and the bootstrap may do.
const cloud = "butler-provider-gcp"

// site is a cloud whose machines boot emulated Talos.
type site struct {
	*testing.T
	client   client.Client
	network  *network.Network
	machines *datacenter.Datacenter
	platform *inmemory.Platform
	balanced bool
}

func newSite(t *testing.T, c client.Client) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{
		T: t, client: c, network: network.New(),
		platform: inmemory.New(inmemory.Options{LoadBalancers: true, Push: true}),
	}
	nodes := simtalos.New(simtalos.Options{
		Executable: planetest.Executable(t), Network: s.network, Dir: filepath.Join(dir, "clusters"),
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	var err error
	s.machines, err = datacenter.New(datacenter.Options{
		Dir: filepath.Join(dir, "machines"), Network: s.network, Boot: nodes.Boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Gateway: netip.MustParseAddr("10.0.0.254")}},
	})
	must(t, err)
	t.Cleanup(s.machines.Close)
	return s
}

// live powers on what the platform has, and makes its load balancer lead there.
func (s *site) live(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		for _, m := range s.platform.Machines() {
			if _, on := s.machines.Running(m.ID); on || m.State != provider.StateRunning {
				continue
			}
			if _, err := s.machines.PowerOn(s.guest(m)); err != nil {
				s.Error(err)
				return
			}
		}
		if err := s.balance(ctx); err != nil && ctx.Err() == nil {
			s.Error(err)
			return
		}
	}
}

// guest is what boots on a machine, with its user data as in a cloud.
func (s *site) guest(m provider.Machine) datacenter.Spec {
	g := datacenter.Spec{ID: m.ID, Name: m.Ref.Name, CPU: 4, MemoryMB: 8192, Address: m.Addresses[0]}
	g.Metadata = &datacenter.Metadata{Platform: "gcp", InstanceID: m.ID, ProviderID: m.NodeProviderID}
	for _, seen := range s.platform.Sightings(m.Ref.Name) {
		g.UserData = []byte(seen.Spec.UserData)
	}
	return g
}

func (s *site) balance(ctx context.Context) error {
	r := &v1alpha1.LoadBalancerRequest{}
	err := s.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "dev-cp-lb"}, r)
	if err != nil || r.Status.Endpoint == "" || s.balanced {
		return client.IgnoreNotFound(err)
	}
	s.balanced = true
	for _, port := range append(r.Spec.AdditionalPorts, r.Spec.Port) {
		_, failed := s.network.Balance(fmt.Sprintf("%s:%d", r.Status.Endpoint, port), func() []netip.AddrPort { return s.targets(port) }, true)
		err = errors.Join(err, failed)
	}
	return err
}

func (s *site) targets(port int32) (out []netip.AddrPort) {
	for _, b := range s.platform.LoadBalancers() {
		for _, t := range b.Targets {
			out = append(out, netip.AddrPortFrom(netip.MustParseAddr(t.IP), uint16(port)))
		}
	}
	return out
}

// running runs programs as the accounts of their charts until the test ends, with
// the arguments of the charts, but for the ports.
func (s *site) running(programs ...program.Program) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	s.Cleanup(func() { cancel(); group.Wait() })
	group.Go(func() { s.live(ctx) })
	for _, p := range programs {
		args, account := invocation(s.T, s.client, p.Name)
		args = append(args, "--kubeconfig", kubeconfig(s.T, s.client, account))
		group.Go(func() {
			if err := p.Run(ctx, args, program.Streams{Out: s.Output(), Err: s.Output()}); err != nil {
				s.Errorf("%s: %v", p.Name, err)
			}
		})
	}
}

// lifeOfACluster is that a cluster comes up and goes again, by a bootstrap and a provider that have no
// more than the rights of their charts.
func lifeOfACluster(t *testing.T, c client.Client) {
	s := newSite(t, c)
	s.running(
		clusterbootstrap.Program(s.network.Dial, source.Options{Carried: charts.FS}),
		serve.Program(s.platform.Provider(v1alpha1.ProviderGCP)))
	unserved := withoutController(t, c)
	cb := ordered(t, c)
	outOfReach(t, c)
	reached := func(what string, done func() bool) {
		t.Helper()
		awaitFor(t, 2*time.Minute, func() error {
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(cb), cb))
			if !done() {
				return fmt.Errorf("%s: %s, %+v", what, cb.Status.Phase, cb.Status.Conditions)
			}
			return nil
		})
	}
	reached("Ready", func() bool { return cb.Status.Phase == v1alpha1.BootstrapReady })
	awaitFor(t, time.Minute, unserved)
	age(t, c)
	repaired(t, c)
	renewed(t, c)
	must(t, c.Delete(t.Context(), cb))
	awaitFor(t, time.Minute, func() error { return gone(t, c, cb) })
	if left := len(s.platform.Machines()) + len(s.platform.LoadBalancers()); left != 0 {
		t.Errorf("%d are left on the platform", left)
	}
	var secrets corev1.SecretList
	must(t, c.List(t.Context(), &secrets, client.InNamespace(namespace)))
	if len(secrets.Items) != 0 {
		t.Errorf("%d Secrets are left", len(secrets.Items))
	}
	must(t, c.Delete(t.Context(), &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud"}}))
	awaitFor(t, time.Minute, func() error {
		return gone(t, c, &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud"}})
	})
}

// ordered creates what a user applies: credentials, ProviderConfig and
// ClusterBootstrap.
func ordered(t *testing.T, c client.Client) *v1alpha1.ClusterBootstrap {
	t.Helper()
	must(t, c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: vault, Name: "credentials", Annotations: map[string]string{v1alpha1.AnnotationAllowedNamespaces: namespace},
		},
		StringData: map[string]string{"serviceAccountKey": "{}"},
	}))
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud"}}
	config.Spec.Provider = v1alpha1.ProviderGCP
	config.Spec.CredentialsRef = &v1alpha1.SecretReference{Namespace: vault, Name: "credentials"}
	config.Spec.GCP = &v1alpha1.GCPSpec{ProjectID: "project", Region: "region"}
	must(t, c.Create(t.Context(), config))
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}}
	cb.Spec.Provider, cb.Spec.ProviderRef = config.Spec.Provider, v1alpha1.ProviderReference{Name: config.Name}
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: "dev", Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: strings.Repeat("0a", 32)}
	cb.Spec.Addons = bare()
	must(t, c.Create(t.Context(), cb))
	return cb
}

// withoutController creates a ProviderConfig of a provider that does not run. What it
// returns is nil once that is reported.
func withoutController(t *testing.T, c client.Client) func() error {
	t.Helper()
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "unserved"}}
	config.Spec.Provider, config.Spec.AWS = v1alpha1.ProviderAWS, &v1alpha1.AWSSpec{Region: "region"}
	must(t, c.Create(t.Context(), config))
	return func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		r := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
		if r == nil || r.Reason != v1alpha1.ReasonNoController || !strings.Contains(r.Message, "butler-provider-aws") {
			return fmt.Errorf("conditions %+v", config.Status.Conditions)
		}
		return nil
	}
}

// outOfReach sees that a ProviderConfig whose credentials lie where the provider may
// not read them says so, and what to do.
func outOfReach(t *testing.T, c client.Client) {
	t.Helper()
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "elsewhere"}}
	config.Spec.Provider = v1alpha1.ProviderGCP
	config.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	config.Spec.GCP = &v1alpha1.GCPSpec{ProjectID: "project", Region: "region"}
	must(t, c.Create(t.Context(), config))
	awaitFor(t, time.Minute, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		r := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
		if r == nil || r.Reason != "CredentialsUnreadable" || !strings.Contains(r.Message, "add "+namespace+"/credentials to credentialsSecrets") {
			return fmt.Errorf("conditions %+v", config.Status.Conditions)
		}
		return nil
	})
}

// bare is without all addons that can be switched off.
func bare() (a v1alpha1.AddonsSpec) {
	const none = "none"
	a.CNI.Type, a.Storage.Type, a.LoadBalancer.Type, a.Ingress.Type, a.ControlPlaneProvider.Type, a.GitOps.Type = none, none, none, none, none, none
	a.CertManager.Enabled, a.CAPI.Enabled, a.ButlerController.Enabled = new(false), new(false), new(false)
	return a
}

// repaired sees that the bootstrap gives the load balancer back the targets that
// another client takes from it.
func repaired(t *testing.T, c client.Client) {
	t.Helper()
	r := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev-cp-lb"}}
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(r), r))
	before := r.DeepCopy()
	r.Spec.Targets = nil
	must(t, c.Patch(t.Context(), r, client.MergeFrom(before)))
	awaitFor(t, time.Minute, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(r), r))
		if len(r.Spec.Targets) != 1 {
			return fmt.Errorf("targets %v", r.Spec.Targets)
		}
		return nil
	})
}

// kubeconfigOf is the Secret with the new cluster's kubeconfig, and that itself.
func kubeconfigOf(t *testing.T, c client.Client) (*corev1.Secret, *clientcmdapi.Config) {
	t.Helper()
	secret := &corev1.Secret{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "dev-kubeconfig"}, secret))
	config, err := clientcmd.Load(secret.Data["kubeconfig"])
	must(t, err)
	return secret, config
}

// age gives the new cluster a kubeconfig whose certificate has run out.
func age(t *testing.T, c client.Client) {
	t.Helper()
	ca, err := pki.NewCA("past")
	must(t, err)
	pair, err := ca.Issue(pki.Request{CommonName: "past", Client: true, Lifetime: -time.Minute})
	must(t, err)
	secret, config := kubeconfigOf(t, c)
	for _, user := range config.AuthInfos {
		user.ClientCertificateData, user.ClientKeyData = pair.Cert, pair.Key
	}
	secret.Data["kubeconfig"], err = clientcmd.Write(*config)
	must(t, err)
	must(t, c.Update(t.Context(), secret))
}

// renewed sees that the bootstrap replaces a kubeconfig that has run out.
func renewed(t *testing.T, c client.Client) {
	t.Helper()
	awaitFor(t, time.Minute, func() error {
		_, config := kubeconfigOf(t, c)
		for _, user := range config.AuthInfos {
			pair, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData)
			must(t, err)
			if time.Now().After(pair.Leaf.NotAfter) {
				return errors.New("the kubeconfig is that of the past")
			}
		}
		return nil
	})
}

// gone is an error as long as an object is there.
func gone(t *testing.T, c client.Client, o client.Object) error {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	if err == nil {
		return fmt.Errorf("still there: %+v", o)
	}
	return client.IgnoreNotFound(err)
}
