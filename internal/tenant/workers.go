// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The annotations that the autoscaler reads.
const (
	minSize = coreGroup + "/cluster-api-autoscaler-node-group-min-size"
	maxSize = coreGroup + "/cluster-api-autoscaler-node-group-max-size"
)

// machineTemplate is the template of the workers. Its name has a hash of what it says.
func (in Input) machineTemplate(n names, machine object) *unstructured.Unstructured {
	spec := object{"template": object{"spec": machine}}
	name := Workers(in.name()) + "-" + hash(object{"kind": n.template, "version": n.version, "spec": spec})
	return in.new(infrastructureGroup+"/"+n.version, n.template, name, spec)
}

// hash is short, and the same for the same content.
func hash(content object) string {
	data, err := json.Marshal(content)
	if err != nil { // maps of strings, numbers and lists
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}

// workers is the MachineDeployment.
func (in Input) workers(p platform, template string) *unstructured.Unstructured {
	name, n, w := Workers(in.name()), p.names(), in.Cluster.Spec.Workers
	labels := object{coreGroup + "/cluster-name": in.name(), coreGroup + "/deployment-name": name}
	machine := object{
		"clusterName":       in.name(),
		"version":           cmp.Or(in.WorkerVersion, in.Cluster.Spec.KubernetesVersion),
		"bootstrap":         object{"dataSecretName": in.BootstrapSecret},
		"infrastructureRef": in.ref(infrastructureGroup, n.version, n.template, template),
	}
	if z, ok := p.(zoned); ok {
		machine["failureDomain"] = z.zone()
	}
	u := in.new(coreGroup+"/"+in.Core, "MachineDeployment", name, object{
		"clusterName": in.name(),
		"selector":    object{"matchLabels": labels},
		"template":    object{"metadata": object{"labels": labels}, "spec": machine},
	})
	if w.Autoscaled() {
		u.SetAnnotations(map[string]string{minSize: strconv.Itoa(int(w.MinReplicas)), maxSize: strconv.Itoa(int(w.MaxReplicas))})
	}
	if !w.Autoscaled() || !in.Scaled {
		u.Object["spec"].(object)["replicas"] = int64(w.Replicas)
	}
	return u
}
