// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// coreFile has the specifications of Cluster API's own definitions, without descriptions.
//
//go:embed core.json.gz
var coreFile []byte

// newestCore is the version that the controllers of a rehearsal store and watch, and
// olderCore the one that they convert. Both are served, whichever release is installed:
// releases before 1.11 have the older one alone.
const newestCore, olderCore = "v1beta2", "v1beta1"

var coreSpecs = sync.OnceValues(func() (specs map[string]object, err error) {
	r, err := gzip.NewReader(bytes.NewReader(coreFile))
	if err != nil {
		return nil, err
	}
	return specs, json.NewDecoder(r).Decode(&specs)
})

// asCore is a definition of Cluster API itself: the real one where its objects are used.
func (p provider) asCore(d definition) definition {
	d.versions = []string{newestCore, olderCore}
	d.labels = map[string]string{coreGroup + "/" + newestCore: newestCore, coreGroup + "/" + olderCore: olderCore}
	specs, err := coreSpecs()
	if err != nil {
		panic(fmt.Sprintf("the embedded definitions of Cluster API: %v", err)) // a defect of the build
	}
	spec, known := specs[d.name]
	if !known {
		return d
	}
	d.annotations = map[string]string{injectCA: p.home() + "/" + p.prefix + "-serving-cert"}
	d.real = maps.Clone(spec)
	d.real["conversion"] = object{"strategy": "Webhook", "webhook": object{
		"conversionReviewVersions": []string{"v1"},
		"clientConfig":             object{"service": object{"name": p.prefix + "-webhook-service", "namespace": p.home(), "path": "/convert"}},
	}}
	return d
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
