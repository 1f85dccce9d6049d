// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// condition says whether everything that is named can be used.
func (v verdict) condition() metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionReady}
	if len(v.problems) == 0 {
		c.Status, c.Reason = metav1.ConditionTrue, reasonInForce
		c.Message = "tenant control planes are exposed by mode " + string(v.mode)
		return c
	}
	var all []string
	for _, p := range v.problems {
		all = append(all, p.message)
	}
	c.Status, c.Reason, c.Message = metav1.ConditionFalse, v.problems[0].reason, strings.Join(all, " | ")
	return c
}

// report writes a status that has changed, and records events.
func (r *Reconciler) report(ctx context.Context, config *v1alpha1.ButlerConfig, v verdict) error {
	before := config.DeepCopy()
	s := &config.Status
	s.ObservedGeneration = config.Generation
	s.ControlPlaneExposureMode, s.TCPProxyRequired = v.mode, v.mode != v1alpha1.ExposureLoadBalancer
	s.TeamCount, s.ClusterCount = v.teams, v.clusters
	c := v.condition()
	c.ObservedGeneration = config.Generation
	meta.SetStatusCondition(&s.Conditions, c)
	if equality.Semantic.DeepEqual(before.Status, *s) {
		return nil
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, config, lock); err != nil {
		return err
	}
	if was := meta.FindStatusCondition(before.Status.Conditions, c.Type); was == nil || was.Reason != c.Reason || was.Message != c.Message {
		log.FromContext(ctx).Info("configuration taken up", "mode", v.mode, "ready", c.Status, "reason", c.Reason)
		r.announce(config, c)
	}
	return nil
}
