// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/butlerdotdev/butler/config/clusterapi"
)

// newestCore is the version that the controllers of a rehearsal store and watch, and
// olderCore the one that they convert. Both are served, whichever release is installed:
// releases before 1.11 have the older one alone.
const newestCore, olderCore = "v1beta2", "v1beta1"

// coreRelease is the release of Cluster API whose controllers a rehearsal runs, and
// definitions are those that it serves.
const coreRelease = "v1.14.2"

// real are the definitions of a provider's release; those of another release where that one
// is not known, none where no release is.
func (p provider) real(version string) map[string]*clusterapi.Definition {
	if p.carried == "" {
		return nil
	}
	releases := append([]string{version}, p.releases...)
	if p.repository == coreRepository {
		releases = p.releases
	}
	for _, v := range releases {
		if all, err := clusterapi.Definitions(p.carried, v); err == nil {
			byName := map[string]*clusterapi.Definition{}
			for _, d := range all {
				byName[d.Name] = d
			}
			return byName
		}
	}
	return nil
}

// checked is a definition with the schemas of the real one. The versions of Cluster API itself
// are converted by its own webhook; of other kinds the last version alone is served.
func (p provider) checked(d definition, released *clusterapi.Definition) definition {
	if p.repository == coreRepository {
		d.versions = []string{newestCore, olderCore}
		d.labels = map[string]string{coreGroup + "/" + newestCore: newestCore, coreGroup + "/" + olderCore: olderCore}
	}
	if released == nil {
		return d
	}
	spec := released.Spec
	if p.repository == coreRepository {
		d.annotations = map[string]string{injectCA: p.home() + "/" + p.prefix + "-serving-cert"}
		spec.Conversion = p.conversion()
		d.real = spec
		return d
	}
	d.labels = maps.Clone(released.Labels)
	for _, v := range spec.Versions {
		if v.Name == d.versions[0] {
			v.Storage, v.Served = true, true
			spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
			d.real = spec
		}
	}
	return d
}

// further are the kinds of a provider that it has beside those of every provider, such as
// identities.
func (p provider) further(known []definition, released map[string]*clusterapi.Definition) (out []definition) {
	for _, name := range slices.Sorted(maps.Keys(released)) {
		if p.repository == coreRepository || slices.ContainsFunc(known, func(d definition) bool { return d.name == name }) {
			continue
		}
		d := released[name]
		out = append(out, p.checked(definition{name: name, kind: d.Spec.Names.Kind, versions: []string{d.Spec.Versions[0].Name}}, d))
	}
	return out
}

func (p provider) conversion() *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
				Name: p.prefix + "-webhook-service", Namespace: p.home(), Path: new("/convert"),
			}},
		},
	}
}

// access are the rights of a program that runs in a rehearsal.
func (p provider) access() []object {
	if len(p.rules) == 0 {
		return nil
	}
	lead := []any{
		grant("coordination.k8s.io", "leases", "get list watch create update patch delete"),
		grant("", "configmaps", "get list watch create update patch delete"),
		grant("", "events", "create patch"),
	}
	const api = "rbac.authorization.k8s.io/v1"
	subjects := []any{object{"kind": "ServiceAccount", "name": p.account(), "namespace": p.home()}}
	bind := func(kind string, namespace any, role, name string) object {
		return named(api, kind+"Binding", namespace, name, object{
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}, "subjects": subjects,
		})
	}
	return []object{
		named(api, "ClusterRole", nil, p.prefix+"-manager-role", object{"rules": p.rules}),
		bind("ClusterRole", nil, p.prefix+"-manager-role", p.prefix+"-manager-rolebinding"),
		named(api, "Role", p.home(), p.prefix+"-leader-election-role", object{"rules": lead}),
		bind("Role", p.home(), p.prefix+"-leader-election-role", p.prefix+"-leader-election-rolebinding"),
	}
}

// grant is a rule; names are separated by spaces.
func grant(group, resources, verbs string) object {
	return object{"apiGroups": []string{group}, "resources": strings.Fields(resources), "verbs": strings.Fields(verbs)}
}

// coreAccess are the rights of Cluster API's core, as its release grants them.
func coreAccess() []any {
	const all = "get list watch create update patch delete"
	return []any{
		grant("", "configmaps", "get list watch update patch delete"), grant("", "events", "create patch"),
		grant("", "namespaces", "get list watch"), grant("", "secrets", all),
		grant("addons."+coreGroup, "*", all), grant("bootstrap."+coreGroup, "*", all),
		grant(controlPlaneGroup, "*", all), grant(infrastructureGroup, "*", all),
		grant("apiextensions.k8s.io", "customresourcedefinitions", "get list watch"),
		grant("authentication.k8s.io", "tokenreviews", "create"), grant("authorization.k8s.io", "subjectaccessreviews", "create"),
		grant(coreGroup, "clusterclasses clusterclasses/status clusters clusters/finalizers clusters/status machinedrainrules "+
			"machinehealthchecks/finalizers machinehealthchecks/status", "get list watch update patch"),
		grant(coreGroup, "machinedeployments machinedeployments/finalizers machinedeployments/status machinehealthchecks machinepools "+
			"machinepools/finalizers machinepools/status machines machines/finalizers machines/status machinesets "+
			"machinesets/finalizers machinesets/status", all),
		grant("ipam."+coreGroup, "ipaddressclaims ipaddresses ipaddressclaims/status", "get list watch update patch"),
	}
}

// ipamAccess are the rights of the in-cluster IPAM provider, as its release grants them.
func ipamAccess() []any {
	const all = "get list watch create update patch delete"
	return []any{
		grant("ipam."+coreGroup, "inclusterippools globalinclusterippools ipaddresses", all),
		grant("ipam."+coreGroup, "ipaddressclaims", "get list watch update patch"),
		grant("ipam."+coreGroup, "inclusterippools/status globalinclusterippools/status ipaddressclaims/status ipaddresses/status", "get update patch"),
		grant("ipam."+coreGroup, "inclusterippools/finalizers globalinclusterippools/finalizers ipaddressclaims/finalizers ipaddresses/finalizers", "update"),
		grant(coreGroup, "clusters", "get list watch"),
	}
}

// infrastructureAccess are the rights of an infrastructure provider.
func infrastructureAccess() []any {
	const all, read = "get list watch create update patch delete", "get list watch"
	return []any{
		grant(infrastructureGroup, "*", all), grant("ipam."+coreGroup, "*", all),
		grant(coreGroup, "clusters clusters/status machines machines/status machinesets machinedeployments", read),
		grant("", "secrets", "get list watch create update patch delete"), grant("", "namespaces configmaps", read),
		grant("", "events", "create patch"), grant("coordination.k8s.io", "leases", all),
	}
}
