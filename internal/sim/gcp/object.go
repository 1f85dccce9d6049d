// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// object is a resource, or a part of one, as the API has it in JSON.
type object map[string]any

// resource is an object that exists, with what only the simulator knows of it.
type resource struct {
	Object object
	// Path is where it is in its project, such as zones/ZONE/instances/NAME.
	Path string
	// Pending is true until the operation that creates it has succeeded, Deleting from when
	// one has begun to delete it.
	Pending, Deleting bool
	// Visible is from when on it is listed.
	Visible time.Time
	// Members are the paths of the instances in an instance group, Created those of the disks
	// that an instance came with.
	Members, Created []string
	// Ran is whether a start of the machine has succeeded, Copy marks what the simulator
	// copied, for the auditor alone.
	Ran, Copy bool
}

func (r *resource) id() string   { return r.Object.str("id") }
func (r *resource) name() string { return r.Object.str("name") }

// collection is the kind of the resource in its path.
func (r *resource) collection() string { return collectionOf(r.Path) }

// location is the zone or the region of a path; empty: it is global.
func locationOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) == 4 && parts[0] != "projects" {
		return parts[1]
	}
	return ""
}

func collectionOf(path string) string {
	parts := strings.Split(path, "/")
	return parts[max(0, len(parts)-2)]
}

func nameOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (o object) str(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) bool(key string) bool {
	b, _ := o[key].(bool)
	return b
}

// num is a number, which 64-bit fields have as text.
func (o object) num(key string) int {
	switch v := o[key].(type) {
	case float64:
		return int(v)
	case int:
		return v
	case string:
		n, err := strconv.Atoi(v)
		if err == nil {
			return n
		}
	}
	return 0
}

func (o object) has(key string) bool {
	v, there := o[key]
	return there && v != nil
}

func (o object) sub(key string) object {
	switch v := o[key].(type) {
	case object:
		return v
	case map[string]any:
		return v
	}
	return object{}
}

// subs is a list of objects. Changes of them are changes of the list.
func (o object) subs(key string) (out []object) {
	list, _ := o[key].([]any)
	for _, one := range list {
		switch v := one.(type) {
		case object:
			out = append(out, v)
		case map[string]any:
			out = append(out, v)
		}
	}
	return out
}

func (o object) strs(key string) (out []string) {
	list, _ := o[key].([]any)
	for _, one := range list {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

func (o object) labels() map[string]string {
	out := map[string]string{}
	for key, value := range o.sub("labels") {
		out[key] = fmt.Sprint(value)
	}
	return out
}

// fill sets fields that are not there.
func (o object) fill(defaults object) {
	for key, value := range defaults {
		if !o.has(key) {
			o[key] = value
		}
	}
}

// without returns a copy without some fields.
func (o object) without(keys ...string) object {
	out := maps.Clone(o)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// copied returns a deep copy.
func (o object) copied() object {
	raw, err := json.Marshal(o)
	out := object{}
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return maps.Clone(o)
	}
	return out
}

func anys[T any](all []T) []any {
	out := []any{}
	for _, one := range all {
		out = append(out, one)
	}
	return out
}

// fingerprint is that of a value: it changes when the value does.
func fingerprint(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return base64.StdEncoding.EncodeToString(sum[:8])
}

func stamp(t time.Time) string { return t.In(pacific).Format("2006-01-02T15:04:05.000-07:00") }

// pacific is the zone of all times that the API shows.
var pacific = time.FixedZone("PST", -8*60*60)
