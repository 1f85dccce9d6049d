// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// Services is the network of a cluster's services and pods, as far as API servers
// send anything to it. Whatever listens in a pod is taken for a webhook.
type Services struct {
	Faults *fault.Injector
	Log    *slog.Logger

	mu       sync.Mutex
	kubelets map[*Kubelet]bool // whose machines are on
	view     *view             // of the API server that runs
	ca       pki.CA
}

// view is what an API server knows of its services.
type view struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
}

// Join has the pods of a kubelet answer until leave is called.
func (s *Services) Join(k *Kubelet) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kubelets == nil {
		s.kubelets = map[*Kubelet]bool{}
	}
	s.kubelets[k] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.kubelets, k)
	}
}

// HasNode reports whether an address is that of a node whose machine is on.
func (s *Services) HasNode(address netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.kubelets {
		if k.Node.Address == address {
			return true
		}
	}
	return false
}

// follow knows the services of an API server, and has their webhooks trusted, until
// ctx ends.
func (s *Services) follow(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	v := &view{services: factory.Core().V1().Services().Lister(), slices: factory.Discovery().V1().EndpointSlices().Lister()}
	i := newInjector(s, client, factory)
	definitions, err1 := clientset.NewForConfig(config)
	objects, err2 := metadata.NewForConfig(config)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	metas := metadatainformer.NewSharedInformerFactory(objects, 0)
	i.follows(definitions, metas)
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	metas.Start(ctx.Done())
	defer metas.Shutdown()
	factory.WaitForCacheSyncWithContext(ctx)
	s.show(v)
	defer s.show(nil)
	i.run(ctx)
	return nil
}

func (s *Services) show(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view = v
}

// authority is the certificate of those that sign for webhooks.
func (s *Services) authority() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ca.Cert
}

func (s *Services) present() (v *view, kubelets []*Kubelet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.kubelets {
		kubelets = append(kubelets, k)
	}
	return s.view, kubelets
}

// find leads from an address to a pod that listens there now, and to where its own webhooks
// answer.
func (s *Services) find(at netip.AddrPort) (pod *corev1.Pod, hooks string, err error) {
	if pod, err = s.findPod(at); err != nil {
		return nil, "", err
	}
	_, kubelets := s.present()
	for _, k := range kubelets {
		if hooks = k.programs.hooksOf(pod.UID); hooks != "" {
			break
		}
	}
	return pod, hooks, nil
}

func (s *Services) findPod(at netip.AddrPort) (*corev1.Pod, error) {
	v, kubelets := s.present()
	if v == nil {
		return nil, fmt.Errorf("nothing is known of services yet")
	}
	if service, err := v.at(at.Addr()); err != nil || service != nil {
		if err != nil {
			return nil, err
		}
		return behind(v, service, int32(at.Port()), kubelets)
	}
	for _, k := range kubelets {
		if pod, ok := k.listener(at); ok {
			return pod, nil
		}
	}
	if pod, err := v.endpoint(at, kubelets); pod != nil || err != nil {
		return pod, err
	}
	return nil, fmt.Errorf("no pod that is ready listens at %s", at)
}

// endpoint is the pod at an address that a service routes to: containers need not
// declare the ports that they listen at.
func (v *view) endpoint(at netip.AddrPort, kubelets []*Kubelet) (*corev1.Pod, error) {
	all, err := v.slices.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, slice := range all {
		if !slices.ContainsFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool { return p.Port != nil && *p.Port == int32(at.Port()) }) {
			continue
		}
		for _, e := range slice.Endpoints {
			if !slices.Contains(e.Addresses, at.Addr().String()) {
				continue
			}
			if pod, ok := live(e, kubelets); ok {
				return pod, nil
			}
		}
	}
	return nil, nil
}

// at is the service of an address, or nil.
func (v *view) at(address netip.Addr) (*corev1.Service, error) {
	all, err := v.services.List(labels.Everything())
	for _, service := range all {
		if service.Spec.ClusterIP == address.String() {
			return service, nil
		}
	}
	return nil, err
}

// behind is a pod that answers for the port of a service, or for any if port is 0.
func behind(v *view, service *corev1.Service, port int32, kubelets []*Kubelet) (*corev1.Pod, error) {
	name, ok := portName(service, port)
	if !ok {
		return nil, fmt.Errorf("service %s/%s has no port %d", service.Namespace, service.Name, port)
	}
	own := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name})
	all, err := v.slices.EndpointSlices(service.Namespace).List(own)
	if err != nil {
		return nil, err
	}
	for _, slice := range all {
		if port != 0 && !hasPort(slice, name) {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			if pod, ok := live(endpoint, kubelets); ok {
				return pod, nil
			}
		}
	}
	return nil, fmt.Errorf("service %s/%s has no pod that is ready", service.Namespace, service.Name)
}

func portName(service *corev1.Service, port int32) (string, bool) {
	for _, p := range service.Spec.Ports {
		if p.Port == port {
			return p.Name, true
		}
	}
	return "", port == 0
}

func hasPort(slice *discoveryv1.EndpointSlice, name string) bool {
	for _, p := range slice.Ports {
		if p.Name != nil && *p.Name == name && p.Port != nil {
			return true
		}
	}
	return false
}

// live is the pod of an endpoint, if its machine is on and its containers run.
func live(e discoveryv1.Endpoint, kubelets []*Kubelet) (*corev1.Pod, bool) {
	if e.TargetRef == nil || e.Conditions.Ready != nil && !*e.Conditions.Ready {
		return nil, false
	}
	for _, k := range kubelets {
		if pod, ok := k.serving(e.TargetRef.Namespace + "/" + e.TargetRef.Name); ok {
			return pod, true
		}
	}
	return nil, false
}

// serving is the pod of that name, if it is ready and its containers run.
func (k *Kubelet) serving(key string) (*corev1.Pod, bool) {
	s := k.present()
	if s == nil {
		return nil, false
	}
	object, exists, err := s.pods.GetByKey(key)
	if err != nil || !exists {
		return nil, false
	}
	pod := object.(*corev1.Pod)
	return pod, isReady(pod) && k.containers.has(key)
}

// listener is the pod that listens at an address of the node.
func (k *Kubelet) listener(at netip.AddrPort) (*corev1.Pod, bool) {
	if key, ok := k.addresses.holder(at.Addr()); ok {
		pod, ok := k.serving(key)
		return pod, ok && opens(pod, at.Port())
	}
	s := k.present()
	if s == nil || at.Addr() != k.Node.Address {
		return nil, false
	}
	for _, object := range s.pods.List() {
		pod := object.(*corev1.Pod)
		if pod.Spec.HostNetwork && opens(pod, at.Port()) {
			return k.serving(keyOf(pod))
		}
	}
	return nil, false
}

// opens says whether a container of the pod declares the port.
func opens(pod *corev1.Pod, port uint16) bool {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.ContainerPort == int32(port) {
				return true
			}
		}
	}
	return false
}
