// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package standin makes small charts and manifests that replace the real ones
// in a rehearsal. They have the names of the real things, their workloads,
// definitions, webhooks and hooks, and honour the values that matter; what their
// pods would do is left out.
package standin

import (
	"fmt"
	"slices"
	"strings"
)

// Addon is the annotation of a pod that names the addon it belongs to, by its
// key in status.addonsInstalled. Delays and faults of addons apply to such pods.
const Addon = "stand-in.butlerlabs.dev/addon"

// Traits say what a stand-in has, and therefore what can go wrong with it.
type Traits struct {
	Pods     bool
	Webhooks bool
	Hooks    bool // that run at every installation
}

// release is what a stand-in is made for: an addon in one version.
type release struct{ addon, version string }

// tag is the version with a v, as most images have it.
func (r release) tag() string { return "v" + r.bare() }

func (r release) bare() string { return strings.TrimPrefix(r.version, "v") }

// part is one object of a stand-in.
type part struct {
	object object
	// when is a condition of a chart's template; empty means always.
	when string
	// seldom is set where installations usually go without it.
	seldom bool
}

// always makes parts of objects that no value switches off.
func always(objects ...object) (out []part) {
	for _, o := range objects {
		out = append(out, part{object: o})
	}
	return out
}

// when makes parts of objects that are there under a condition.
func when(condition string, objects ...object) []part {
	out := always(objects...)
	for i := range out {
		out[i].when = condition
	}
	return out
}

func traits(parts []part) (t Traits) {
	for _, p := range parts {
		switch kind := p.object["kind"]; kind {
		case "Deployment", "DaemonSet", "StatefulSet":
			t.Pods = true
		case "Job":
			t.Hooks = t.Hooks || !p.seldom
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			t.Webhooks = true
		}
	}
	return t
}

// unknown is the error about something that has no stand-in.
func unknown(what, name string, known []string) error {
	slices.Sort(known)
	return fmt.Errorf("the rehearsal has no stand-in for the %s %s; there are %s", what, name, strings.Join(known, ", "))
}
