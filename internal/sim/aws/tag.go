// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
	"github.com/butlerdotdev/butler/internal/sim/table"
)

const maxTags = 50

// readTags reads a list of tags.
func readTags(all []model.Params) (tags, error) {
	out := tags{}
	for _, p := range all {
		key, value := p.String("Key"), p.String("Value")
		if _, twice := out[key]; twice {
			return nil, refuse("InvalidParameterValue", "Duplicate tag key '%s' specified.", key)
		}
		if err := checkTag(key, value); err != nil {
			return nil, err
		}
		out[key] = value
	}
	if len(out) > maxTags {
		return nil, refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
	}
	return out, nil
}

func checkTag(key, value string) error {
	switch {
	case key == "":
		return refuse("InvalidParameterValue", "Tag key cannot be empty.")
	case strings.HasPrefix(strings.ToLower(key), "aws:"):
		return refuse("InvalidParameterValue", "Value ( %s ) for parameter key is invalid. Tag keys starting with 'aws:' are reserved for internal use", key)
	case utf8.RuneCountInString(key) > 128:
		return refuse("InvalidParameterValue", "Tag key exceeds the maximum length of 128 characters")
	case utf8.RuneCountInString(value) > 256:
		return refuse("InvalidParameterValue", "Tag value exceeds the maximum length of 256 characters")
	}
	return nil
}

// specifiedTags returns the tags for each type of resource that a create call makes.
func (c *call) specifiedTags(allowed ...string) (map[string]tags, error) {
	out := map[string]tags{}
	for _, s := range c.params.Each("TagSpecification") {
		kind := s.String("ResourceType")
		if !slices.Contains(allowed, kind) {
			return nil, refuse("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", kind)
		}
		if _, twice := out[kind]; twice {
			return nil, refuse("InvalidParameterValue", "The same resource type may not be specified more than once in tag specifications")
		}
		t, err := readTags(s.Each("Tag"))
		if err != nil {
			return nil, err
		}
		out[kind] = t
	}
	return out, nil
}

// requestTags returns the tags that a request brings, for whatever it creates.
func (q request) requestTags() tags {
	out := tags{}
	all := append(q.params.Each("Tag"), q.params.Each("Tags.member")...)
	for _, s := range q.params.Each("TagSpecification") {
		all = append(all, s.Each("Tag")...)
	}
	for _, p := range all {
		out[p.String("Key")] = p.String("Value")
	}
	return out
}

func tagSet(t tags) any {
	out := items{}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		out = append(out, fields{"key", key, "value", t[key]})
	}
	return out
}

// holder is an object of EC2 that has tags.
type holder struct {
	kind string
	tags *tags
	keep func()
}

// holder finds an object of EC2 by its ID.
func (s *state) holder(id string) (holder, bool) {
	prefix, _, _ := strings.Cut(id, "-")
	switch prefix {
	case "i":
		return hold(s.instances, id, "instance", func(o *instance) *tags { return &o.Tags })
	case "vol":
		return hold(s.volumes, id, "volume", func(o *volume) *tags { return &o.Tags })
	case "eni":
		return hold(s.interfaces, id, "network-interface", func(o *networkInterface) *tags { return &o.Tags })
	case "sg":
		return hold(s.groups, id, "security-group", func(o *group) *tags { return &o.Tags })
	case "subnet":
		return hold(s.subnets, id, "subnet", func(o *subnet) *tags { return &o.Tags })
	case "vpc":
		return hold(s.vpcs, id, "vpc", func(o *vpc) *tags { return &o.Tags })
	case "ami":
		return hold(s.images, id, "image", func(o *image) *tags { return &o.Tags })
	case "eipalloc":
		return hold(s.addresses, id, "elastic-ip", func(o *address) *tags { return &o.Tags })
	}
	return holder{}, false
}

func hold[T any](t *table.Table[T], id, kind string, of func(*T) *tags) (holder, bool) {
	o := t.ByID[id]
	if o == nil {
		return holder{}, false
	}
	return holder{kind, of(o), func() { t.Put(id, o) }}, true
}

// tagsOf returns the tags of an object by its ID or ARN.
func (c *call) tagsOf(id string) tags {
	if h, found := c.st.holder(id); found {
		return *h.tags
	}
	if t, _, found := c.st.balancerTags(id); found {
		return *t
	}
	return nil
}
