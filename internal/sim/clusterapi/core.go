// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterapi runs Cluster API's own core controllers and webhooks on a rehearsed
// management cluster, as the program in the image of its core Deployment.
package clusterapi

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1" //nolint:staticcheck // objects of this version are converted
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // objects of this version are converted
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1" //nolint:staticcheck // objects of this version are converted
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"   //nolint:staticcheck // objects of this version are converted
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	"sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Core is the name of the program: that of the image of Cluster API's core.
const Core = "cluster-api-controller"

const agent = "cluster-api-controller-manager"

// settings are those of the arguments that have an effect here.
type settings struct {
	health, metrics, webhooks string
	elect                     bool
	namespace                 string // of the pod
}

// Environment is what a program of a rehearsal runs in.
type Environment struct {
	// Network is the address of a SOCKS5 server: the simulated network as the pod sees it.
	Network string
	Out     io.Writer // for logs
}

// useNetwork has all connections but those to loopback addresses, where the API server of the
// management cluster is, go through the simulated network. The clients of tenants are made
// deep inside Cluster API, which takes a proxy from nowhere else.
func (e Environment) useNetwork() error {
	if e.Network == "" {
		return nil
	}
	return os.Setenv("HTTPS_PROXY", "socks5://"+e.Network)
}

// RunCore runs the controllers with the arguments of the container until ctx ends.
func RunCore(ctx context.Context, args []string, e Environment) error {
	s, err := parse(args, e.Out)
	if err != nil {
		return err
	}
	config, err := e.open()
	if err != nil {
		return err
	}
	m, err := newManager(config, s)
	if err != nil {
		return err
	}
	if err := addAll(ctx, m); err != nil {
		return err
	}
	return m.Start(ctx)
}

// open returns the access of the pod to its cluster, and has the program log and reach the
// simulated network.
func (e Environment) open() (*rest.Config, error) {
	if err := e.useNetwork(); err != nil {
		return nil, err
	}
	logger := logr.FromSlogHandler(slog.NewTextHandler(e.Out, nil))
	klog.SetLogger(logger)
	ctrllog.SetLogger(logger)
	config, err := kubeconfig().ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster of the pod: %w", err)
	}
	config.QPS, config.Burst = 100, 200
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

func kubeconfig() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
}

// parse reads the arguments. Those without an effect in a rehearsal are known, so that a
// wrong one is refused as the real program does.
func parse(args []string, out io.Writer) (s settings, err error) {
	f := flag.NewFlagSet(Core, flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&s.health, "health-probe-bind-address", "0", "address of the health probes")
	f.StringVar(&s.metrics, "metrics-bind-address", "0", "address of the metrics")
	f.StringVar(&s.webhooks, "webhook-bind-address", "", "address of the webhooks, without TLS")
	f.BoolVar(&s.elect, "leader-elect", false, "elect a leader")
	for _, name := range []string{"diagnostics-address", "insecure-diagnostics", "feature-gates", "v", "zap-log-level"} {
		f.String(name, "", "accepted; the rehearsal has no use for it")
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.namespace, _, err = kubeconfig().Namespace()
	return s, err
}

func newManager(config *rest.Config, s settings) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config.UserAgent = agent
	return ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Cache: setup.ManagerCacheOptions(scheme, agent, "", syncPeriod), Client: setup.ManagerClientOptions(),
		LeaderElectionNamespace: s.namespace,
		LeaderElection:          s.elect, LeaderElectionID: "controller-leader-election-capi", LeaderElectionReleaseOnCancel: true,
		HealthProbeBindAddress: s.health, Metrics: server.Options{BindAddress: s.metrics},
		WebhookServer: newWebhookServer(s.webhooks),
	})
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		clusterv1beta1.AddToScheme, clusterv1.AddToScheme,
		addonsv1beta1.AddToScheme, addonsv1.AddToScheme,
		ipamv1alpha1.AddToScheme, ipamv1beta1.AddToScheme, ipamv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addAll adds what the real program runs, without ClusterClass, runtime extensions,
// MachinePools and ClusterResourceSets.
func addAll(ctx context.Context, m ctrl.Manager) error {
	if err := index.AddDefaultIndexes(ctx, m); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("webhook", m.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	cache, err := addReconcilers(ctx, m)
	if err != nil {
		return err
	}
	return addWebhooks(m, cache)
}
