// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// category is a key with its values. It is no intent: it has neither a UUID nor tasks.
type category struct {
	Name, Description string
	System            bool
	Values            []categoryValue
}

type categoryValue struct{ Value, Description string }

// categoriesOf are the categories in the metadata of a request, values by key.
func categoriesOf(metadata object) map[string][]string {
	out := map[string][]string{}
	if metadata.bool("use_categories_mapping") {
		for key, values := range metadata.sub("categories_mapping") {
			list, _ := values.([]any)
			for _, one := range list {
				out[key] = append(out[key], fmt.Sprint(one))
			}
		}
		return out
	}
	for key, value := range metadata.sub("categories") {
		out[key] = []string{fmt.Sprint(value)}
	}
	return out
}

func sameCategories(a, b map[string][]string) bool {
	return maps.EqualFunc(a, b, func(x, y []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	})
}

func (k *category) show() object {
	return object{
		"api_version": apiVersion, "name": k.Name, "description": k.Description, "system_defined": k.System,
		"capabilities": object{"cardinality": 64},
	}
}

func (k *category) showValue(v categoryValue) object {
	return object{"api_version": apiVersion, "name": k.Name, "value": v.Value, "description": v.Description, "system_defined": k.System}
}

// named returns the category of a call.
func (c *call) named() (*category, error) {
	if k := c.st.categories.ByID[c.params[0]]; k != nil {
		return k, nil
	}
	return nil, notFound(kindCategory, c.params[0])
}

func putCategory(c *call) (any, error) {
	name := c.params[0]
	switch {
	case c.body.str("name") != name:
		return nil, refusal{status: http.StatusUnprocessableEntity, kind: kindCategory, reason: "ENTITY_NAME_UUID_MISMATCH", message: "The name of the category in the body is not that in the path."}
	case len(name) > maxCategory:
		return nil, invalid("name", "'%s' is too long", name)
	}
	k := c.st.categories.ByID[name]
	switch {
	case k == nil:
		k = &category{Name: name}
	case k.System:
		return nil, refusal{status: http.StatusForbidden, kind: kindCategory, reason: "ENTITY_IS_READONLY", message: "System defined category " + name + " cannot be changed."}
	}
	k.Description = c.body.str("description")
	c.st.categories.Put(name, k)
	c.auditCategory(k)
	return k.show(), nil
}

// maxCategory is the longest name or value of a category.
const maxCategory = 64

func getCategory(c *call) (any, error) {
	k, err := c.named()
	if err != nil {
		return nil, err
	}
	return k.show(), nil
}

func deleteCategory(c *call) (any, error) {
	k, err := c.named()
	switch {
	case err != nil:
		return nil, err
	case k.System:
		return nil, refusal{status: http.StatusForbidden, kind: kindCategory, reason: "ENTITY_IS_READONLY", message: "System defined category " + k.Name + " cannot be deleted."}
	case len(k.Values) > 0:
		return nil, inUse(k.Name, fmt.Sprintf("it has %d values", len(k.Values)))
	}
	c.st.categories.Remove(k.Name)
	c.Options.Auditor.Gone(fault.Category, k.Name)
	return nil, nil
}

// inUse refuses to delete a category, or a value of one, that is used.
func inUse(what, why string) error {
	return refusal{
		status: http.StatusConflict, kind: kindCategory, reason: "ENTITY_DELETION_FAILED",
		message: fmt.Sprintf("Category %s cannot be deleted: %s.", what, why),
	}
}

func listCategories(c *call) (any, error) {
	if c.body.has("filter") {
		return nil, notSimulated("filter")
	}
	part, err := page(c, c.st.categories.All())
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, k := range part {
		out = append(out, k.show())
	}
	return object{"api_version": apiVersion, "metadata": c.listMetadata(len(part), len(c.st.categories.ByID)), "entities": out}, nil
}

func listValues(c *call) (any, error) {
	k, err := c.named()
	switch {
	case err != nil:
		return nil, err
	case c.body.str("filter") != "":
		return nil, notSimulated("filter")
	}
	part, err := page(c, k.Values)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, v := range part {
		out = append(out, k.showValue(v))
	}
	return object{"api_version": apiVersion, "metadata": c.listMetadata(len(part), len(k.Values)), "entities": out}, nil
}

func (k *category) index(value string) int {
	return slices.IndexFunc(k.Values, func(v categoryValue) bool { return v.Value == value })
}

func putValue(c *call) (any, error) {
	k, err := c.named()
	if err != nil {
		return nil, err
	}
	value := c.params[1]
	switch {
	case c.body.has("value") && c.body.str("value") != value:
		return nil, refusal{status: http.StatusUnprocessableEntity, kind: kindCategory, reason: "CATEGORY_NAME_VALUE_MISMATCH", message: "The value in the body is not that in the path."}
	case len(value) > maxCategory:
		return nil, invalid("value", "'%s' is too long", value)
	case asked(c.body["assignment_rule"]):
		return nil, notSimulated("assignment_rule")
	}
	v := categoryValue{Value: value, Description: c.body.str("description")}
	if i := k.index(value); i >= 0 {
		k.Values[i] = v
	} else {
		k.Values = append(k.Values, v)
	}
	c.st.categories.Put(k.Name, k)
	c.auditCategory(k)
	return k.showValue(v), nil
}

// missingValue is the answer where a key exists and the value does not.
func missingValue(key, value string) error {
	return refusal{
		status: http.StatusNotFound, kind: kindCategory, reason: "CATEGORY_NAME_VALUE_MISMATCH",
		message: fmt.Sprintf("Category %s with value %s does not exist.", key, value),
	}
}

func getValue(c *call) (any, error) {
	k, err := c.named()
	if err != nil {
		return nil, err
	}
	i := k.index(c.params[1])
	if i < 0 {
		return nil, missingValue(k.Name, c.params[1])
	}
	return k.showValue(k.Values[i]), nil
}

func deleteValue(c *call) (any, error) {
	k, err := c.named()
	if err != nil {
		return nil, err
	}
	i := k.index(c.params[1])
	if i < 0 {
		return nil, missingValue(k.Name, c.params[1])
	}
	for _, e := range c.st.entities[kindVM].All() {
		if slices.Contains(e.Categories[k.Name], c.params[1]) && (e.Exists || c.pending(e)) {
			return nil, inUse(k.Name+":"+c.params[1], "it is assigned to "+e.Kind+" "+e.UUID)
		}
	}
	k.Values = slices.Delete(k.Values, i, i+1)
	c.st.categories.Put(k.Name, k)
	c.auditCategory(k)
	return nil, nil
}
