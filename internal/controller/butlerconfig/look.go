// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// gatewayAPI is what Gateways are asked for as.
const gatewayAPI = "gateway.networking.k8s.io/v1"

// facts are what the cluster has of what a ButlerConfig names.
type facts struct {
	provider *v1alpha1.ProviderConfig // nil: missing, or not asked for
	classes  []class                  // asked for in mode Ingress only
	gateway  presence                 // asked for in mode Gateway only
	teams    int32
	clusters int32
}

// class is an IngressClass.
type class struct {
	name      string
	isDefault bool
}

// presence says whether a Gateway is there.
type presence int

const (
	present presence = iota
	missing
	unserved // the cluster does not know the kind
)

// look reads what the spec names.
func (r *Reconciler) look(ctx context.Context, spec v1alpha1.ButlerConfigSpec) (found facts, err error) {
	if ref := spec.DefaultProviderConfigRef; ref != nil {
		if found.provider, err = r.provider(ctx, ref.Name); err != nil {
			return found, err
		}
	}
	if err := r.count(ctx, &found); err != nil {
		return found, err
	}
	exposure := exposureOf(spec)
	if exposure.Mode == v1alpha1.ExposureIngress {
		found.classes, err = r.classes(ctx)
	}
	if exposure.Mode == v1alpha1.ExposureGateway {
		found.gateway, err = r.gateway(ctx, exposure.GatewayRef)
	}
	return found, err
}

// count counts the Teams and the TenantClusters.
func (r *Reconciler) count(ctx context.Context, found *facts) error {
	var teams v1alpha1.TeamList
	var clusters v1alpha1.TenantClusterList
	if err := errors.Join(r.Client.List(ctx, &teams, client.UnsafeDisableDeepCopy), r.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy)); err != nil {
		return fmt.Errorf("count Teams and TenantClusters: %w", err)
	}
	found.teams, found.clusters = int32(len(teams.Items)), int32(len(clusters.Items))
	return nil
}

func (r *Reconciler) provider(ctx context.Context, name string) (*v1alpha1.ProviderConfig, error) {
	config := &v1alpha1.ProviderConfig{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, config)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ProviderConfig %s/%s: %w", namespace, name, err)
	}
	return config, nil
}

func (r *Reconciler) classes(ctx context.Context) (out []class, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("IngressClassList"))
	if err := r.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list IngressClasses: %w", err)
	}
	for _, c := range list.Items {
		out = append(out, class{c.Name, c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"})
	}
	return out, nil
}

// gateway asks the API server itself.
func (r *Reconciler) gateway(ctx context.Context, ref string) (presence, error) {
	gateway := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: gatewayAPI, Kind: "Gateway"}}
	in, name, _ := strings.Cut(ref, "/")
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: in, Name: name}, gateway)
	switch {
	case err == nil:
		return present, nil
	case meta.IsNoMatchError(err):
		return unserved, nil
	case apierrors.IsNotFound(err):
		return missing, nil
	}
	return missing, fmt.Errorf("read Gateway %s: %w", ref, err)
}
