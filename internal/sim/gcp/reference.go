// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"strings"
)

// pathOf returns the path of the resource that a full or a partial URL names.
func (c *call) pathOf(value string) (string, bool) {
	path := value
	if _, rest, found := strings.Cut(value, "/compute/v1/"); found && strings.HasPrefix(value, "https://") {
		path = rest
	} else if found || strings.Contains(value, "://") {
		return "", false
	}
	if rest, found := strings.CutPrefix(path, "projects/"); found {
		project, inside, _ := strings.Cut(rest, "/")
		if project != c.seed.Project && project != c.number {
			return path, inside != ""
		}
		path = inside
	}
	place, _, _ := strings.Cut(path, "/")
	return path, place == "zones" || place == "regions" || place == "global"
}

// reference replaces the URL in a field by the link of the resource that it names, which
// must exist. collection is what it must be, scope where; empty: anywhere.
func (c *call) reference(o object, key, field, collection, scope string) (*resource, error) {
	value := o.str(key)
	path, ok := c.pathOf(value)
	if !ok || collectionOf(path) != collection {
		return nil, invalid(field, value, "The URL is malformed.")
	}
	if scope != "" && !strings.HasPrefix(path, scope+"/") {
		return nil, invalid(field, value, "The resource must be in '%s'.", scope)
	}
	r := c.st.get(path)
	switch {
	case r == nil:
		return nil, c.notFound(path)
	case r.Pending || r.Deleting:
		return nil, c.notReady(path)
	}
	o[key] = c.link(r.Path)
	return r, nil
}

// checkLabels checks the labels of an object: at most 64, lower case, 63 characters.
func checkLabels(o object) error {
	labels := o.labels()
	if len(labels) > 64 {
		return invalid("resource.labels", fmt.Sprint(len(labels)), "At most 64 labels are allowed.")
	}
	for key, value := range labels {
		if !isLabelKey(key) {
			return invalid("resource.labels", key, "Label key '%s' violates format constraints. The key must start with a lowercase character, can only contain lowercase letters, numeric characters, underscores and dashes. The key can be at most 63 characters long. International characters are allowed.", key)
		}
		if !isLabelValue(value) {
			return invalid("resource.labels", value, "Label value '%s' violates format constraints. The value can only contain lowercase letters, numeric characters, underscores and dashes. The value can be at most 63 characters long. International characters are allowed.", value)
		}
	}
	return nil
}
