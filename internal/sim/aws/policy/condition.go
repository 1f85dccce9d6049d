// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"
)

// operators compare a value of the request with one of the policy.
func operators() map[string]func(pattern, value string) bool {
	equals := func(a, b string) bool { return a == b }
	return map[string]func(string, string) bool{
		"StringEquals": equals, "StringLike": Match, "ArnEquals": Match, "ArnLike": Match, "Bool": strings.EqualFold,
		"StringEqualsIgnoreCase": strings.EqualFold,
	}
}

// check refuses operators that are not evaluated: to ignore one would allow too much.
func (c Condition) check() error {
	for name := range c {
		if _, _, err := operator(name); err != nil {
			return err
		}
	}
	return nil
}

// operator returns a comparison, and whether its result is reversed.
func operator(name string) (compare func(string, string) bool, not bool, err error) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "ForAnyValue:"), "IfExists")
	plain := strings.Replace(strings.Replace(name, "StringNot", "String", 1), "ArnNot", "Arn", 1)
	compare, known := operators()[plain]
	if !known {
		return nil, false, fmt.Errorf("condition operator %s is not simulated", name)
	}
	return compare, plain != name, nil
}

// holds reports whether all comparisons hold. A key that the request does not have fails,
// except with IfExists or a negated operator.
func (c Condition) holds(context map[string]string) bool {
	for name, keys := range c {
		compare, not, err := operator(name)
		if err != nil {
			return false
		}
		for key, values := range keys {
			value, present := find(context, key)
			if !present {
				if not || strings.HasSuffix(name, "IfExists") {
					continue
				}
				return false
			}
			if slices.ContainsFunc(values, func(v string) bool { return compare(v, value) }) == not {
				return false
			}
		}
	}
	return true
}

// find returns the value of a condition key; the case of its name has no meaning.
func find(context map[string]string, key string) (string, bool) {
	for name, value := range context {
		if strings.EqualFold(name, key) {
			return value, true
		}
	}
	return "", false
}
