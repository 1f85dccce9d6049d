// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
)

// showAPIServer keeps the status of the node's own API server among its resources while the
// API server answers.
func (n *node) showAPIServer(ctx context.Context, resources state.State) {
	n.cluster.whileOpen(ctx, n, func(ctx context.Context, _ string) {
		pod := k8s.NewStaticPodStatus(k8s.NamespaceName, "kube-system/kube-apiserver-"+n.hostname())
		pod.TypedSpec().PodStatus = map[string]any{
			"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		}
		if err := resources.Create(ctx, pod); err != nil {
			n.log.Warn("the status of the API server is not shown", "error", err)
		}
		<-ctx.Done()
		_ = resources.Destroy(context.WithoutCancel(ctx), pod.Metadata())
	})
}
