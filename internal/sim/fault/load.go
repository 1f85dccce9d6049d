// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Load reads a fault file strictly and reports everything that is wrong with it.
func Load(file string) (Plan, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Plan{}, fmt.Errorf("read the fault plan: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return Plan{}, fmt.Errorf("fault plan %s: %w", file, err)
	}
	return p, nil
}

// Parse reads the content of a fault file as Load does.
func Parse(data []byte) (Plan, error) {
	raw, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return Plan{}, err
	}
	var list []map[string]json.RawMessage
	if err := read("", raw, map[string]any{"faults": &list}); err != nil {
		return Plan{}, err
	}
	if len(list) == 0 {
		return Plan{}, errors.New(`"faults" has no entry; a plan lists at least one fault`)
	}
	var p Plan
	var wrong []error
	for i, entry := range list {
		var f Fault
		at := fmt.Sprintf("faults[%d]", i)
		if err := readFields(at+".", entry, f.fields()); err != nil {
			wrong = append(wrong, err)
		} else {
			wrong = append(wrong, f.check(at, entry))
		}
		p.Faults = append(p.Faults, f)
	}
	return p, errors.Join(wrong...)
}

func (f *Fault) fields() map[string]any {
	return map[string]any{
		"kind": &f.Kind, "machine": &f.Machine, "address": &f.Address, "addon": &f.Addon, "verb": &f.Verb, "resource": &f.Resource, "after": &f.After,
		"for": &f.For, "times": &f.Times, "delay": &f.Delay, "retryAfter": &f.RetryAfter,
	}
}

func read(at string, raw []byte, fields map[string]any) error {
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entry); err != nil {
		return fmt.Errorf("expected a mapping with %s", words(slices.Sorted(maps.Keys(fields))))
	}
	return readFields(at, entry, fields)
}

// readFields sets each field that is there and complains of all that it cannot.
func readFields(at string, entry map[string]json.RawMessage, fields map[string]any) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		target, known := fields[name]
		if !known {
			wrong = append(wrong, fmt.Errorf("%s%s is unknown; there are %s", at, name, words(slices.Sorted(maps.Keys(fields)))))
			continue
		}
		if err := json.Unmarshal(entry[name], target); err != nil {
			wrong = append(wrong, fmt.Errorf("%s%s: %s is not %s", at, name, entry[name], expected(target)))
		}
	}
	return errors.Join(wrong...)
}

func expected(target any) string {
	switch target.(type) {
	case *int:
		return "a whole number"
	case *string, *Kind, *Verb, *Resource:
		return "a text"
	case *[]map[string]json.RawMessage:
		return "a list of faults"
	}
	return `a time such as "30s" or "1m30s"`
}

func words[T ~string](all []T) string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
