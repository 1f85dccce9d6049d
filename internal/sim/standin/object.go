// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"sigs.k8s.io/yaml"
)

// object is a Kubernetes object, in which any value may be an expression.
type object map[string]any

// expression is a pipeline of a chart's template; its result is written as JSON.
type expression string

// The marks of an expression in YAML, before it becomes a template: nothing in
// between needs quotes.
const begin, end = "beginexpr", "endexpr"

// MarshalJSON writes the expression so that it survives as it is.
func (e expression) MarshalJSON() ([]byte, error) {
	return json.Marshal(begin + hex.EncodeToString([]byte(e)) + end)
}

func value(path string) expression { return expression(".Values." + path) }

// inRelease is the namespace of a chart's release.
const inRelease = expression(".Release.Namespace")

// text writes an object as YAML, with its expressions as a template.
func text(o object) ([]byte, error) {
	out, err := yaml.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write %v %v: %w", o["kind"], o["metadata"], err)
	}
	return regexp.MustCompile(begin+"[0-9a-f]*"+end).ReplaceAllFunc(out, template), nil
}

func template(mark []byte) []byte {
	e, err := hex.DecodeString(string(mark[len(begin) : len(mark)-len(end)]))
	if err != nil {
		return mark
	}
	return fmt.Appendf(nil, "{{ %s | toJson }}", e)
}

// named makes an object; without a namespace it is one of the cluster's.
func named(apiVersion, kind string, namespace any, name any, fields object) object {
	meta := object{"name": name}
	if namespace != nil {
		meta["namespace"] = namespace
	}
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
	maps.Copy(o, fields)
	return o
}

func (o object) meta() object { return o["metadata"].(object) }

// annotated adds annotations.
func (o object) annotated(annotations map[string]string) object {
	all, _ := o.meta()["annotations"].(map[string]string)
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, annotations)
	o.meta()["annotations"] = all
	return o
}

func (o object) labelled(labels map[string]string) object {
	o.meta()["labels"] = labels
	return o
}

// accounts are ServiceAccounts.
func accounts(namespace any, names ...any) (out []object) {
	for _, name := range names {
		out = append(out, named("v1", "ServiceAccount", namespace, name, nil))
	}
	return out
}

// service leads one port to the pods with these labels.
type service struct {
	name   string
	port   int
	target any
	labels map[string]string
	kind   any // empty means ClusterIP
	more   object
}

func (s service) object(namespace any) object {
	port := object{"port": s.port, "targetPort": s.target, "protocol": "TCP"}
	spec := object{"selector": s.labels, "ports": []any{port}}
	if s.kind != nil {
		spec["type"] = s.kind
	}
	maps.Copy(spec, s.more)
	return named("v1", "Service", namespace, s.name, object{"spec": spec})
}
