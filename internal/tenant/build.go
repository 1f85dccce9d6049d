// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Objects are those of a tenant cluster. What cannot be built yet is nil.
type Objects struct {
	Cluster, ControlPlane *unstructured.Unstructured
	// Konnectivity is an Ingress; nil where the host of the control plane creates a route itself.
	Konnectivity *unstructured.Unstructured
	// Credentials are Secrets and identities for the infrastructure provider.
	Credentials []*unstructured.Unstructured
	// Infrastructure is the infrastructure cluster.
	Infrastructure *unstructured.Unstructured
	// Status is for the status of the infrastructure cluster; nil where its own controller
	// writes all of it.
	Status *unstructured.Unstructured
	// Template of the workers. It is created if there is none of its name, and never changed.
	Template *unstructured.Unstructured
	// Workers is their MachineDeployment.
	Workers *unstructured.Unstructured
	// Warnings are fields of the ProviderConfig that have no effect on tenant clusters, and an
	// exposure that this one does not take any more.
	Warnings []string
}

// InOrder returns the objects that exist, in the order in which they are applied. Status is not
// among them.
func (o Objects) InOrder() []*unstructured.Unstructured {
	all := append([]*unstructured.Unstructured{o.Cluster, o.ControlPlane, o.Konnectivity}, o.Credentials...)
	all = append(all, o.Infrastructure, o.Template, o.Workers)
	return slices.DeleteFunc(all, func(u *unstructured.Unstructured) bool { return u == nil })
}

// Build returns the objects of a tenant cluster, or all fields that cannot be served. The
// fields are checked whether or not the objects can be built already.
func Build(in Input) (Objects, error) {
	p, err := platformOf(in)
	if err := errors.Join(err, in.check()); err != nil {
		return Objects{}, err
	}
	credentials, credentialsErr := p.credentials()
	infrastructure, infrastructureErr := p.cluster()
	template, templateErr := p.template()
	controlPlane, controlPlaneErr := in.controlPlane()
	if err := errors.Join(credentialsErr, infrastructureErr, templateErr, controlPlaneErr); err != nil {
		return Objects{}, err
	}
	out := Objects{
		Cluster: in.cluster(p.names()), ControlPlane: controlPlane, Konnectivity: in.konnectivityIngress(), Credentials: credentials,
		Warnings: append(p.warnings(), in.exposureWarnings()...),
	}
	if in.Endpoint == nil {
		return out, nil
	}
	out.Infrastructure, out.Status = in.infrastructure(p.names(), infrastructure), in.status(p)
	if in.BootstrapSecret == "" {
		return out, nil
	}
	out.Template = in.machineTemplate(p.names(), template)
	out.Workers = in.workers(p, out.Template.GetName())
	return out, nil
}

// check refuses an input that no platform can serve.
func (in Input) check() error {
	var errs []error
	if in.Core != "v1beta1" && in.Core != "v1beta2" {
		errs = append(errs, fmt.Errorf("cluster.x-k8s.io is served in version %q: v1beta1 or v1beta2 is needed", in.Core))
	}
	for field, problem := range map[string]bool{"namespace": in.Namespace == "", "cluster id": in.ClusterID == ""} {
		if problem {
			errs = append(errs, fmt.Errorf("the %s of tenant cluster %q is not known", field, in.name()))
		}
	}
	return errors.Join(append(errs, in.checkOverride(), in.checkPool())...)
}

// checkOverride refuses the block of another platform.
func (in Input) checkOverride() error {
	o := in.override()
	for provider, set := range map[string]bool{
		"harvester": o.Harvester != nil, "nutanix": o.Nutanix != nil, "proxmox": o.Proxmox != nil,
		"aws": o.AWS != nil, "gcp": o.GCP != nil, "azure": o.Azure != nil,
	} {
		if set && provider != string(in.Provider.Spec.Provider) {
			return ofTenant("spec.infrastructureOverride."+provider, "ProviderConfig %s is for %s; set the block of that one", in.Provider.Name, in.Provider.Spec.Provider)
		}
	}
	return nil
}
