// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// InClusterIPAM is the name of the program that plays the IPAM provider in-cluster.
const InClusterIPAM = "ipam-in-cluster"

const (
	ipamGroup = "ipam.cluster.x-k8s.io"
	poolKind  = "InClusterIPPool"
	// The finalizers of pools, claims and addresses.
	protectPool    = ipamGroup + "/ProtectPool"
	releaseAddress = ipamGroup + "/ReleaseAddress"
	protectAddress = ipamGroup + "/ProtectAddress"
)

// RunIPAM plays the IPAM provider with the arguments of its container until ctx ends.
func RunIPAM(ctx context.Context, args []string, e Environment) error {
	s, err := parse(args, e.Out)
	if err != nil {
		return err
	}
	config, err := e.open()
	if err != nil {
		return err
	}
	m, err := ctrl.NewManager(config, ctrl.Options{
		HealthProbeBindAddress: s.health, Metrics: server.Options{BindAddress: s.metrics}, WebhookServer: newWebhookServer(s.webhooks),
		LeaderElection: s.elect, LeaderElectionID: "controller-leader-election-" + InClusterIPAM, LeaderElectionReleaseOnCancel: true,
		LeaderElectionNamespace: s.namespace,
	})
	if err != nil {
		return err
	}
	if err := addIPAM(m, config); err != nil {
		return err
	}
	return m.Start(ctx)
}

func addIPAM(m ctrl.Manager, config *rest.Config) error {
	live, err := client.New(config, client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	pools, claims := &ipPools{live}, &ipClaims{live}
	err = ctrl.NewControllerManagedBy(m).Named("inclusterippool").For(ipam(poolKind)).
		Watches(ipam("IPAddress"), handler.EnqueueRequestsFromMapFunc(poolOf)).Complete(reconcilerFunc(pools.Reconcile))
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(m).Named("ipaddressclaim").For(ipam("IPAddressClaim")).
		Watches(ipam(poolKind), handler.EnqueueRequestsFromMapFunc(claims.ofPool)).Complete(reconcilerFunc(claims.Reconcile))
	if err != nil {
		return err
	}
	m.GetWebhookServer().Register("/validate-ipam-cluster-x-k8s-io-inclusterippool", &admission.Webhook{Handler: admission.HandlerFunc(pools.validate)})
	m.GetWebhookServer().Register("/mutate-ipam-cluster-x-k8s-io-inclusterippool", &admission.Webhook{Handler: admission.HandlerFunc(allow)})
	if err := m.AddReadyzCheck("webhook", m.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	return m.AddHealthzCheck("ping", healthz.Ping)
}

func allow(context.Context, admission.Request) admission.Response { return admission.Allowed("") }

// ipam is an empty object of a kind of the group.
func ipam(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetKind(kind)
	u.SetAPIVersion(ipamGroup + "/v1beta2")
	if kind == poolKind || kind == poolKind+"List" {
		u.SetAPIVersion(ipamGroup + "/v1alpha2")
	}
	return u
}

// listIPAM returns the objects of a kind in a namespace.
func listIPAM(ctx context.Context, c client.Reader, kind, namespace string) ([]unstructured.Unstructured, error) {
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(ipam(kind).GetAPIVersion())
	all.SetKind(kind + "List")
	err := c.List(ctx, all, client.InNamespace(namespace))
	return all.Items, err
}

// poolOf maps an address or a claim to its pool.
func poolOf(_ context.Context, o client.Object) []reconcile.Request {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || textOf(u.Object, "spec", "poolRef", "kind") != poolKind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: u.GetNamespace(), Name: textOf(u.Object, "spec", "poolRef", "name")}}}
}

// ofPool maps a pool to its claims without an address: it may have some now.
func (r *ipClaims) ofPool(ctx context.Context, o client.Object) (out []reconcile.Request) {
	all, err := listIPAM(ctx, r, "IPAddressClaim", o.GetNamespace())
	if err != nil {
		return nil
	}
	for i := range all {
		if c := &all[i]; textOf(c.Object, "spec", "poolRef", "name") == o.GetName() && textOf(c.Object, "status", "addressRef", "name") == "" {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		}
	}
	return out
}

// owned is a reference to an owner.
func owned(by *unstructured.Unstructured, controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: by.GetAPIVersion(), Kind: by.GetKind(), Name: by.GetName(), UID: by.GetUID(),
		Controller: &controller, BlockOwnerDeletion: new(true),
	}
}

// clusterNamed is the label with the name of a cluster.
func clusterNamed(o client.Object) string {
	return strings.TrimSpace(o.GetLabels()[coreGroup+"/cluster-name"])
}
