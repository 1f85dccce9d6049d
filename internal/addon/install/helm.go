// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	helmkube "helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// helm is what one action works with. All of it ends with ctx: Helm's actions
// accept one, but continue after its end.
func (w *worker) helm(ctx context.Context, t task) (*action.Configuration, error) {
	getter, err := newGetter(t.config(ctx), t.Namespace.Name)
	if err != nil {
		return nil, err
	}
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := config.Init(getter, t.Namespace.Name, "secrets"); err != nil {
		return nil, err
	}
	client := helmkube.New(getter)
	client.Namespace = t.Namespace.Name
	client.SetLogger(slog.DiscardHandler)
	config.KubeClient = helmClient{client, hookWaiter{ctx: ctx, worker: w, task: t}}
	config.Releases.MaxHistory = maxHistory
	return config, nil
}

// getter hands Helm the clients of a connection.
type getter struct {
	config    *rest.Config
	namespace string
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
}

func newGetter(config *rest.Config, namespace string) (*getter, error) {
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(asked)
	return &getter{config, namespace, cached, restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

// ToRESTConfig implements genericclioptions.RESTClientGetter.
func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToRawKubeConfigLoader implements genericclioptions.RESTClientGetter: Helm asks
// it for the namespace alone.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{
		Context: clientcmdapi.Context{Namespace: g.namespace},
	})
}

// helmClient is Helm's client, except that it takes over fields, makes way for
// hooks, and waits for them in its own way.
type helmClient struct {
	*helmkube.Client
	hooks hookWaiter
}

// Build implements kube.Interface. Webhooks come last: while their server does not
// answer, they refuse objects of the same chart that the server may need to start.
func (c helmClient) Build(manifest io.Reader, validate bool) (helmkube.ResourceList, error) {
	all, err := c.Client.Build(manifest, validate)
	slices.SortStableFunc(all, func(a, b *resource.Info) int { return cmp.Compare(rank(a), rank(b)) })
	return all, err
}

func rank(i *resource.Info) int {
	if i.Mapping.GroupVersionKind.Group == admissionregistration.GroupName {
		return 1
	}
	return 0
}

// Create implements kube.Interface. A Job that an earlier run has left would be
// taken for the run of this one, whatever the chart says about deleting it.
func (c helmClient) Create(resources helmkube.ResourceList, options ...helmkube.ClientCreateOption) (*helmkube.Result, error) {
	if left := resources.Filter(runsOnce); len(left) > 0 {
		if err := c.clear(left); err != nil {
			return nil, err
		}
	}
	return c.Client.Create(resources, append(options, helmkube.ClientCreateOptionServerSideApply(true, true))...)
}

// runsOnce reports whether a hook runs to completion, rather than merely exist.
func runsOnce(i *resource.Info) bool {
	m, err := meta.Accessor(i.Object)
	if err != nil {
		return false
	}
	_, hook := m.GetAnnotations()[release.HookAnnotation]
	kind := i.Mapping.GroupVersionKind.Kind
	return hook && (kind == jobKind || kind == podKind)
}

func (c helmClient) clear(resources helmkube.ResourceList) error {
	if _, errs := c.Delete(resources, metav1.DeletePropagationBackground); len(errs) > 0 {
		return errs[0]
	}
	return c.hooks.awaitGone(resources)
}

// GetWaiter implements kube.Interface.
func (c helmClient) GetWaiter(helmkube.WaitStrategy) (helmkube.Waiter, error) { return c.hooks, nil }

// GetWaiterWithOptions implements kube.InterfaceWaitOptions.
func (c helmClient) GetWaiterWithOptions(helmkube.WaitStrategy, ...helmkube.WaitOption) (helmkube.Waiter, error) {
	return c.hooks, nil
}

// Wait implements kube.Waiter: readiness is read elsewhere.
func (hookWaiter) Wait(helmkube.ResourceList, time.Duration) error { return nil }

// WaitWithJobs implements kube.Waiter.
func (hookWaiter) WaitWithJobs(helmkube.ResourceList, time.Duration) error { return nil }

// WaitForDelete implements kube.Waiter: a hook must not be recreated before
// the old one is gone.
func (h hookWaiter) WaitForDelete(resources helmkube.ResourceList, _ time.Duration) error {
	return h.awaitGone(resources)
}
