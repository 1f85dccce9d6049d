// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// Object is an object of the manifest of a cluster that exists.
type Object struct {
	Kind, Name string
	// Now and Then are its specs, before and after the change.
	Now, Then any
	// Workers are the names of the workers that the cluster has, by index.
	Workers []string
	// Refused is why the plane does not accept the change.
	Refused []manifest.Problem
}

// Changes returns what changes of an object, field by field, and why a change is refused.
func (o Object) Changes() (out []Change, err error) {
	found, err := differences(map[string]any{"spec": o.Now}, map[string]any{"spec": o.Then})
	if err != nil {
		return nil, err
	}
	explained := map[int]bool{}
	for _, d := range found {
		c := Change{Object: o.name(), Field: d.path, From: d.from, To: d.to}
		for i, p := range o.Refused {
			if concerns(p, d.path) {
				c.Refused, explained[i] = reason(p, d.path), true
			}
		}
		if c.Refused == "" {
			c.Effect = cmp.Or(o.scaling(d), effect(o.Kind, d.path))
		}
		out = append(out, c)
	}
	for i, p := range o.Refused {
		if !explained[i] {
			out = append(out, Change{Object: o.name(), Field: p.Field, Refused: p.Message})
		}
	}
	return out, nil
}

// scaling is what another number of workers does, empty if a change is about something else.
func (o Object) scaling(d difference) string {
	then, ok := o.Then.(v1alpha1.ClusterBootstrapSpec)
	if !ok || d.path != "spec.cluster.workers.replicas" || then.Cluster.Workers == nil {
		return ""
	}
	has, wanted := len(o.Workers), int(then.Cluster.Workers.Replicas)
	if has > wanted {
		going := slices.Clone(o.Workers[wanted:])
		slices.Reverse(going)
		return "drained and removed, one at a time: " + strings.Join(going, ", ")
	}
	if wanted > has {
		return "added: " + strings.Join(bootstrap.WorkerNames(then.Cluster)[has:], ", ")
	}
	return ""
}

func (o Object) name() string { return o.Kind + " " + o.Name }

// concerns reports whether a refusal is about a field: it names the field or one around it.
func concerns(p manifest.Problem, path string) bool {
	if p.Field != "" {
		return within(path, p.Field) || within(p.Field, path)
	}
	for at := path; strings.Contains(at, "."); at = at[:strings.LastIndex(at, ".")] {
		if mentions(p.Message, at) || mentions(p.Message, at[strings.LastIndex(at, ".")+1:]) && at == path {
			return true
		}
	}
	return false
}

func within(path, around string) bool {
	rest, ok := strings.CutPrefix(path, around)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// mentions reports whether a text has a field as a whole.
func mentions(text, field string) bool {
	ok, err := regexp.MatchString(`(^|[\s,])`+regexp.QuoteMeta(field)+`($|[\s,:;])`, text)
	return err == nil && ok
}

// reason is why a change is refused.
func reason(p manifest.Problem, path string) string {
	text := strings.TrimSpace(p.Field + " " + p.Message)
	switch path {
	case "spec.talos.version", "spec.cluster.kubernetesVersion":
		text += "; this version of butleradm does not upgrade Talos or Kubernetes of a management cluster"
	}
	return text
}

// effects are what changes of a kind do, by the beginning of the field.
var effects = []struct{ kind, field, effect string }{
	{"ClusterBootstrap", "spec.addons", "addons are installed or updated in place; one that is switched off stays installed"},
	{"ClusterBootstrap", "spec.cluster.workers.replicas", "machines are added, or drained and removed one at a time"},
	{"ClusterBootstrap", "spec.registries", "machines that are created later get it"},
	{"ClusterBootstrap", "spec.network.loadBalancer", "the load balancer of the control plane is updated in place"},
	{"ClusterBootstrap", "spec.network.loadBalancerPool", "the addon that assigns these addresses is updated in place"},
	{"ClusterBootstrap", "spec.controlPlaneExposure", "it is written to the ButlerConfig of the cluster"},
	{"ClusterBootstrap", "spec.paused", "the controllers stop, or continue"},
	{"ProviderConfig", "spec", "machines that are created later, and the controllers, use it"},
	{"NetworkPool", "spec", "addresses that are allocated later follow it"},
}

func effect(kind, path string) string {
	for _, e := range effects {
		if e.kind == kind && within(path, e.field) {
			return e.effect
		}
	}
	return "it holds from now on"
}
