// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"regexp"
	"unicode/utf8"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The letters of labels. An expression that also bounds their number would take 8 MB in every process.
var (
	labelKey   = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]*$`)
	labelValue = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]*$`)
)

// labelMost is how many letters a key or a value has at most.
const labelMost = 63

func isLabelKey(s string) bool {
	return utf8.RuneCountInString(s) <= labelMost && labelKey.MatchString(s)
}

func isLabelValue(s string) bool {
	return utf8.RuneCountInString(s) <= labelMost && labelValue.MatchString(s)
}

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
