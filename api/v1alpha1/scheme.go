// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of all kinds in this package.
const Group = "butler.butlerlabs.dev"

// GroupVersion returns the group and version of all kinds in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: "v1alpha1"}
}

// AddToScheme registers all kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	gv := GroupVersion()
	s.AddKnownTypes(gv,
		&AddressClaim{}, &AddressClaimList{},
		&ButlerConfig{}, &ButlerConfigList{},
		&ClusterBootstrap{}, &ClusterBootstrapList{},
		&IPAllocation{}, &IPAllocationList{},
		&LoadBalancerRequest{}, &LoadBalancerRequestList{},
		&MachineRequest{}, &MachineRequestList{},
		&NetworkPool{}, &NetworkPoolList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&Team{}, &TeamList{},
		&TenantCluster{}, &TenantClusterList{},
	)
	metav1.AddToGroupVersion(s, gv)
	return nil
}
