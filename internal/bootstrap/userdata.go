// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// userDataLimit is how many bytes of user data a machine of a provider may have; 0
// means that its machines get their configuration by a push.
func userDataLimit(spec v1alpha1.ClusterBootstrapSpec) int {
	if spec.Network.NodeAccess == v1alpha1.NodeAccessDirect {
		return 0
	}
	return traitsOf(spec.Provider).userData
}

// carriesUserData reports whether machines get their configuration as user data. Those
// that are reached at addresses of their own get it by a push, so that the keys in it
// are not kept on the platform.
func (s *Session) carriesUserData() bool {
	return s.Plan.UserDataLimit > 0 && (s.provider == nil || !s.provider.Spec.PublicIP())
}

// prepareUserData has what the configurations contain before machines are requested
// with them: the endpoint, which the load balancer is the first to know, and the keys.
func prepareUserData(ctx context.Context, s *Session) (*Obstacle, error) {
	if !s.carriesUserData() {
		return nil, nil
	}
	requested := len(s.Status.Machines) > 0
	if o := s.namelessBalancer(); o != nil && !requested {
		return o, nil
	}
	if s.Status.ControlPlaneEndpoint == "" {
		s.Status.ControlPlaneEndpoint = cmp.Or(s.Plan.Endpoint, s.endpoint.loadBalancer)
	}
	if o, err := makeSecrets(ctx, s); o != nil || err != nil || requested {
		return o, err
	}
	return nil, s.Plan.forEachRole(func(m Machine) error {
		_, err := s.userData(m)
		return err
	})
}

// namelessBalancer is what a load balancer without an endpoint waits for.
func (s *Session) namelessBalancer() *Obstacle {
	switch {
	case s.endpoint.loadBalancer != "":
		return nil
	case s.endpoint.request == nil:
		return balancerGone()
	}
	return balancerObstacle(s.endpoint.request)
}

// userData is the configuration that a machine is requested with. Nothing is known of
// the machine by then: the provider ID is set on its node.
func (s *Session) userData(m Machine) (string, error) {
	config, err := s.config(m, s.startsWithLoopback(m), v1alpha1.MachineRequestStatus{})
	if err != nil {
		return "", err
	}
	if size, limit := len(config), s.Plan.UserDataLimit; size > limit {
		return "", &Failure{Reason: "UserDataTooLarge", Message: fmt.Sprintf("the configuration of machine %s has %d bytes, and user data on %s may have %d; shorten the patches of spec.talos, or set publicIP: true in the ProviderConfig or spec.network.nodeAccess: Direct: then it is pushed to the machine", m.Name, size, s.Spec.Provider, limit)}
	}
	return string(config), nil
}

// dropUserData removes the user data from the request of a machine that runs: it has
// been handed over, and the keys in it need not stay there.
func (s *Session) dropUserData(ctx context.Context, r *v1alpha1.MachineRequest) error {
	if r == nil || r.Spec.UserData == "" || r.Status.Phase != v1alpha1.MachineRunning {
		return nil
	}
	before := r.DeepCopy()
	r.Spec.UserData = ""
	return s.Client.Patch(ctx, r, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
