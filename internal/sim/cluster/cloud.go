// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

// The taint of a node that waits for its cloud controller manager, and the annotation by
// which a kubelet reports the address that it was started with.
const (
	uninitialized  = "node.cloudprovider.kubernetes.io/uninitialized"
	providedNodeIP = "alpha.kubernetes.io/provided-node-ip"
)

// Instance is what a cloud knows of a machine.
type Instance struct {
	ProviderID         string
	Type, Zone, Region string
	Addresses          []corev1.NodeAddress
}

// CloudManager initialises nodes, as the node controller of a cloud controller manager does.
type CloudManager struct {
	// Find returns the instance of a node by its provider ID or, where that is empty, by
	// its name.
	Find func(providerID, node string) (Instance, error)
	Log  *slog.Logger

	client kubernetes.Interface
	queue  workqueue.TypedRateLimitingInterface[string]
}

// Run initialises nodes until ctx ends. A node whose instance is not found keeps its taint,
// and is looked at again.
func (m *CloudManager) Run(ctx context.Context, config *rest.Config) (err error) {
	if m.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	m.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer context.AfterFunc(ctx, m.queue.ShutDown)()
	factory := informers.NewSharedInformerFactory(m.client, 0)
	add := func(o any) { m.queue.Add(o.(*corev1.Node).Name) }
	if _, err := factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, o any) { add(o) },
	}); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	for {
		name, shutdown := m.queue.Get()
		if shutdown {
			return nil
		}
		m.handle(ctx, name)
		m.queue.Done(name)
	}
}

func (m *CloudManager) handle(ctx context.Context, name string) {
	err := m.sync(ctx, name)
	if err == nil || ctx.Err() != nil || apierrors.IsNotFound(err) {
		m.queue.Forget(name)
		return
	}
	if m.queue.NumRequeues(name) == 0 {
		m.Log.Warn("node is not initialised", "node", name, "error", err)
	}
	m.queue.AddRateLimited(name)
}

func (m *CloudManager) sync(ctx context.Context, name string) error {
	nodes := m.client.CoreV1().Nodes()
	var found Instance
	initialised := false
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil || !slices.ContainsFunc(node.Spec.Taints, isUninitialized) {
			return err
		}
		if found, err = m.Find(node.Spec.ProviderID, name); err != nil {
			return fmt.Errorf("failed to get instance metadata for node %s: %w", name, err)
		}
		found.apply(node)
		_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
		initialised = err == nil
		return err
	})
	if err != nil || !initialised {
		return err
	}
	m.Log.Info("node is initialised", "node", name, "instance", found.ProviderID)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"addresses": found.Addresses}})
	if err != nil {
		return err
	}
	_, err = nodes.PatchStatus(ctx, name, patch)
	return err
}

func isUninitialized(t corev1.Taint) bool { return t.Key == uninitialized }

// apply sets what the cloud knows of a node, and removes its taint.
func (i Instance) apply(node *corev1.Node) {
	if node.Spec.ProviderID == "" {
		node.Spec.ProviderID = i.ProviderID
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	for value, keys := range map[string][]string{
		i.Type:   {corev1.LabelInstanceType, corev1.LabelInstanceTypeStable},
		i.Zone:   {corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone},
		i.Region: {corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion},
	} {
		for _, key := range keys {
			if value != "" {
				node.Labels[key] = value
			}
		}
	}
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isUninitialized)
}
