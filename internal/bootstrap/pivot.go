// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Moves reports whether a cluster takes over its own management: it needs more
// than one node to do that on, and this project's controllers.
func Moves(spec v1alpha1.ClusterBootstrapSpec) bool {
	enabled := spec.Addons.ButlerController.Enabled
	return spec.Cluster.Topology != v1alpha1.TopologySingleNode && (enabled == nil || *enabled)
}

// CheckCredentials refuses credentials that cannot move with the management of a
// cluster: ambient ones stay where they are.
func CheckCredentials(spec v1alpha1.ClusterBootstrapSpec, config *v1alpha1.ProviderConfig) error {
	if !Moves(spec) || config.Spec.CredentialsRef != nil {
		return nil
	}
	return &Failure{Reason: "AmbientCredentials", Message: fmt.Sprintf("ProviderConfig %s/%s has no credentialsRef, and the credentials of this machine do not move to the cluster with its management; put them into a Secret and set spec.credentialsRef, or set spec.addons.butlerController.enabled of the ClusterBootstrap to false", config.Namespace, config.Name)}
}

// SelfHosted reports whether a ClusterBootstrap lies on the cluster that it is
// about.
func SelfHosted(cb *v1alpha1.ClusterBootstrap) bool {
	return cb.Annotations[v1alpha1.AnnotationPlane] == v1alpha1.PlaneSelf
}

func (s *Session) selfHosted() bool { return SelfHosted(s.ClusterBootstrap) }

// plane is what kind of plane this is; empty on a cluster of its users.
func (s *Session) plane() string { return s.Annotations[v1alpha1.AnnotationPlane] }

// ReasonReadyToPivot says that nothing is left to do but to move the management
// onto the cluster.
const ReasonReadyToPivot = "ReadyToPivot"

// awaitPivot waits on the operator's machine until the management has moved from
// there. The pivot stops this controller first, so that it does not wait in the end. If
// an attempt failed, its cause is reported.
func awaitPivot(_ context.Context, s *Session) (*Obstacle, error) {
	if !s.Plan.Moves || s.plane() != v1alpha1.PlaneLocal {
		return nil, nil
	}
	message := "everything is ready for the cluster to manage itself"
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPivoted); c != nil && c.Status == metav1.ConditionFalse {
		message = c.Message
	}
	return &Obstacle{Reason: ReasonReadyToPivot, Message: message}, nil
}
