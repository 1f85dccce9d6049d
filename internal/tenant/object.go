// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

// The API groups of Cluster API.
const (
	coreGroup           = "cluster.x-k8s.io"
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
)

// managedBy is the annotation of an infrastructure cluster whose controller leaves it alone.
const managedBy = "cluster.x-k8s.io/managed-by"

type object = map[string]any

// Labels returns those of the Secret with the machine configuration of the workers: that of
// objects of the cluster, and the tags. The provider kubevirt copies the Secret to Harvester with
// its labels.
func Labels(in Input) map[string]string {
	out := tag.Style{}.Write(in.tags())
	maps.Copy(out, in.labels())
	return out
}

func (in Input) labels() map[string]string {
	return map[string]string{coreGroup + "/cluster-name": in.name(), v1alpha1.LabelTenant: in.name()}
}

// new returns an object in the tenant namespace.
func (in Input) new(apiVersion, kind, name string, spec object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: object{"apiVersion": apiVersion, "kind": kind}}
	u.SetName(name)
	u.SetNamespace(in.Namespace)
	u.SetLabels(in.labels())
	if spec != nil {
		u.Object["spec"] = spec
	}
	return u
}

// secret returns a Secret with credentials.
func (in Input) secret(name string, data map[string]string) *unstructured.Unstructured {
	u := in.new("v1", "Secret", name, nil)
	encoded := object{}
	for key, value := range data {
		encoded[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	u.Object["type"], u.Object["data"] = "Opaque", encoded
	return u
}

// credentialsName is the name of the Secret with the credentials, and of identities that refer
// to it.
func (in Input) credentialsName() string { return in.name() + "-credentials" }

// tags are those of the machines on the platform, as far as a template can carry them.
func (in Input) tags() tag.Set { return tag.Set{ClusterID: in.ClusterID, Cluster: in.name()} }

// ref is a reference to an object in the tenant namespace, as the version of core wants it.
func (in Input) ref(group, version, kind, name string) object {
	if in.Core == "v1beta1" {
		return object{"apiVersion": group + "/" + version, "kind": kind, "name": name, "namespace": in.Namespace}
	}
	return object{"apiGroup": group, "kind": kind, "name": name}
}

// list converts for unstructured objects, which know no typed slices.
func list[T any](values []T) []any {
	out := make([]any, 0, len(values))
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// texts converts for unstructured objects, which know no typed maps.
func texts(values map[string]string) object {
	out := object{}
	for key, value := range values {
		out[key] = value
	}
	return out
}

// withText sets a field unless the value is empty.
func withText(o object, key, value string) {
	if value != "" {
		o[key] = value
	}
}
