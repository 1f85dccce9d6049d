// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/cluster-api/util/contract"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addWebhooks serves core's own defaults, checks and conversions.
func addWebhooks(m ctrl.Manager, cache admission.ClusterCacheReader) error {
	conversion.SetAPIVersionGetter(func(ctx context.Context, kind schema.GroupKind) (string, error) {
		return apiVersion(ctx, m.GetClient(), kind)
	})
	for _, w := range []interface {
		SetupWebhookWithManager(ctrl.Manager) error
	}{
		&admission.ClusterClass{Client: m.GetClient()},
		&admission.Cluster{Client: m.GetClient(), ClusterCacheReader: cache},
		&admission.Machine{}, &admission.MachineSet{}, &admission.MachineDeployment{}, &admission.MachineDrainRule{},
		&admission.MachinePool{}, &admission.MachineHealthCheck{},
		&admission.ClusterResourceSet{}, &admission.ClusterResourceSetBinding{},
		&admission.IPAddress{Client: m.GetAPIReader()}, &admission.IPAddressClaim{},
	} {
		if err := w.SetupWebhookWithManager(m); err != nil {
			return fmt.Errorf("add %T: %w", w, err)
		}
	}
	return nil
}

// apiVersion is the one of a provider's kind that its definition names for the newest
// contract that this core knows.
func apiVersion(ctx context.Context, c client.Reader, kind schema.GroupKind) (string, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := c.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(kind.Group, kind.Kind)}, definition); err != nil {
		return "", fmt.Errorf("find the definition of %s: %w", kind, err)
	}
	for _, version := range []string{"v1beta2", "v1beta1"} {
		if known := definition.Labels[clusterv1.GroupVersion.Group+"/"+version]; known != "" {
			return schema.GroupVersion{Group: kind.Group, Version: newest(strings.Split(known, "_"))}.String(), nil
		}
	}
	return "", fmt.Errorf("the definition %s has no label with a version for a contract of Cluster API", definition.Name)
}

func newest(versions []string) string {
	return slices.MaxFunc(versions, version.CompareKubeAwareVersionStrings)
}
