// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"regexp"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

var (
	labelKey   = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	labelValue = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)
)

// labelMethods are setLabels of all kinds that have it.
func labelMethods() map[string]method {
	out := map[string]method{}
	for _, collection := range []string{"instances", "disks", "images", "addresses", "forwardingRules"} {
		k := kindOf(collection)
		out[k.noun+".setLabels"] = change{kind: k, verb: fault.Update, permission: "setLabels", check: checkSetLabels, apply: applySetLabels}.method()
	}
	return out
}

func checkSetLabels(c *call, r *resource) error {
	if c.body.str("labelFingerprint") != labelFingerprint(r.Object) {
		return conditionNotMet("Labels fingerprint either invalid or resource labels have changed")
	}
	return checkLabels(c.body)
}

func labelFingerprint(o object) string { return fingerprint(o.sub("labels")) }

func applySetLabels(_ *GCP, r *resource, body object) error {
	r.Object["labels"] = body.sub("labels")
	r.Object["labelFingerprint"] = labelFingerprint(r.Object)
	return nil
}
