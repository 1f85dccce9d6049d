// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// injectCA names the Certificate whose authority an API server is to trust in a conversion.
const injectCA = "cert-manager.io/inject-ca-from"

// converters are the definitions whose conversions ask a webhook.
type converters struct {
	client      clientset.Interface
	definitions cache.GenericLister
	trusted     map[string]int64 // generations that were looked at, by name
}

func newConverters(client clientset.Interface, factory metadatainformer.SharedInformerFactory, changed func()) converters {
	definitions := factory.ForResource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	// It fails only for an informer that has ended.
	_, _ = definitions.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(_, _ any) { changed() },
	})
	return converters{client: client, definitions: definitions.Lister(), trusted: map[string]int64{}}
}

// inject puts the authority into all definitions whose webhook has a ready pod.
func (c converters) inject(ctx context.Context, s *Services) error {
	all, err := c.definitions.List(labels.Everything())
	errs := []error{err}
	for _, o := range all {
		m, ok := o.(metav1.Object)
		if ok && m.GetAnnotations()[injectCA] != "" && c.trusted[m.GetName()] != m.GetGeneration() {
			errs = append(errs, c.trust(ctx, s, m.GetName()))
		}
	}
	return errors.Join(errs...)
}

func (c converters) trust(ctx context.Context, s *Services, name string) error {
	definitions := c.client.ApiextensionsV1().CustomResourceDefinitions()
	d, err := definitions.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	hook := d.Spec.Conversion.Webhook
	if hook == nil || hook.ClientConfig == nil || hook.ClientConfig.Service == nil || bytes.Equal(hook.ClientConfig.CABundle, s.authority()) {
		c.trusted[name] = d.Generation
		return nil
	}
	switch answers, soon := s.answers(hook.ClientConfig.Service.Namespace, hook.ClientConfig.Service.Name); {
	case soon && !answers:
		return errSoon
	case !answers:
		return nil
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"conversion": map[string]any{
		"webhook": map[string]any{"clientConfig": map[string]any{"caBundle": s.authority()}},
	}}})
	if err != nil {
		return err
	}
	_, err = definitions.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: injectorName})
	return err
}
