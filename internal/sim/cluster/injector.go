// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// injector represents all programs that make API servers trust webhooks: each whose service has
// a ready pod gets the authority of the emulated ones.
type injector struct {
	services   *Services
	client     kubernetes.Interface
	validating admissionlisters.ValidatingWebhookConfigurationLister
	mutating   admissionlisters.MutatingWebhookConfigurationLister
	converters converters
	queue      workqueue.TypedRateLimitingInterface[struct{}]
}

// injectorName is by what its writes are known.
const injectorName = "emulated-ca-injector"

func newInjector(s *Services, client kubernetes.Interface, factory informers.SharedInformerFactory) *injector {
	webhooks := factory.Admissionregistration().V1()
	i := &injector{
		services: s, client: client,
		validating: webhooks.ValidatingWebhookConfigurations().Lister(),
		mutating:   webhooks.MutatingWebhookConfigurations().Lister(),
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[struct{}]()),
	}
	look := func() { i.queue.Add(struct{}{}) }
	for _, informer := range []cache.SharedIndexInformer{
		webhooks.ValidatingWebhookConfigurations().Informer(), webhooks.MutatingWebhookConfigurations().Informer(),
		factory.Core().V1().Services().Informer(), factory.Discovery().V1().EndpointSlices().Informer(),
	} {
		// It fails only for an informer that has ended.
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { look() }, UpdateFunc: func(_, _ any) { look() },
		})
	}
	return i
}

func (i *injector) run(ctx context.Context) {
	defer context.AfterFunc(ctx, i.queue.ShutDown)()
	i.queue.Add(struct{}{})
	for {
		item, shutdown := i.queue.Get()
		if shutdown {
			return
		}
		if err := i.inject(ctx); err != nil {
			if ctx.Err() == nil && !apierrors.IsConflict(err) && !errors.Is(err, errSoon) {
				i.services.Log.Warn("webhooks are not trusted", "error", err)
			}
			i.queue.AddRateLimited(item)
		} else {
			i.queue.Forget(item)
		}
		i.queue.Done(item)
	}
}

// inject looks at all webhooks: they are few.
func (i *injector) inject(ctx context.Context) error {
	registered := i.client.AdmissionregistrationV1()
	options := metav1.UpdateOptions{FieldManager: injectorName}
	validating, err := i.validating.List(labels.Everything())
	errs := []error{err}
	for _, c := range validating {
		c = c.DeepCopy()
		changed, err := i.trust(validatingClients(c))
		if errs = append(errs, err); changed {
			_, err := registered.ValidatingWebhookConfigurations().Update(ctx, c, options)
			errs = append(errs, err)
		}
	}
	mutating, err := i.mutating.List(labels.Everything())
	errs = append(errs, err)
	for _, c := range mutating {
		c = c.DeepCopy()
		changed, err := i.trust(mutatingClients(c))
		if errs = append(errs, err); changed {
			_, err := registered.MutatingWebhookConfigurations().Update(ctx, c, options)
			errs = append(errs, err)
		}
	}
	if i.converters.client != nil {
		errs = append(errs, i.converters.inject(ctx, i.services))
	}
	return errors.Join(errs...)
}

// follows has the injector look at the definitions of an API server too.
func (i *injector) follows(client clientset.Interface, factory metadatainformer.SharedInformerFactory) {
	i.converters = newConverters(client, factory, func() { i.queue.Add(struct{}{}) })
}

func validatingClients(c *admissionregistrationv1.ValidatingWebhookConfiguration) (clients []*admissionregistrationv1.WebhookClientConfig) {
	for n := range c.Webhooks {
		clients = append(clients, &c.Webhooks[n].ClientConfig)
	}
	return clients
}

func mutatingClients(c *admissionregistrationv1.MutatingWebhookConfiguration) (clients []*admissionregistrationv1.WebhookClientConfig) {
	for n := range c.Webhooks {
		clients = append(clients, &c.Webhooks[n].ClientConfig)
	}
	return clients
}

// errSoon is about a service that has a ready pod of which its own kubelet does not
// know yet: nothing reports when it does.
var errSoon = errors.New("a pod will answer soon")

// trust puts the authority in, and says whether that changed anything.
func (i *injector) trust(clients []*admissionregistrationv1.WebhookClientConfig) (changed bool, err error) {
	ca := i.services.authority()
	for _, c := range clients {
		if c.Service == nil || bytes.Equal(c.CABundle, ca) {
			continue
		}
		switch answers, soon := i.services.answers(c.Service.Namespace, c.Service.Name); {
		case answers:
			c.CABundle, changed = ca, true
		case soon:
			err = errSoon
		}
	}
	return changed, err
}

// answers says whether a pod answers for the service, or else whether one is ready
// for all that the API server knows.
func (s *Services) answers(namespace, name string) (answers, soon bool) {
	v, kubelets := s.present()
	if v == nil {
		return false, false
	}
	service, err := v.services.Services(namespace).Get(name)
	if err != nil {
		return false, false
	}
	_, err = behind(v, service, 0, kubelets)
	return err == nil, v.hasReady(service)
}

// hasReady says whether the API server knows of a ready pod of the service.
func (v *view) hasReady(service *corev1.Service) bool {
	all, err := v.slices.EndpointSlices(service.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
	return err == nil && slices.ContainsFunc(all, func(s *discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready })
	})
}
