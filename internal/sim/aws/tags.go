// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"slices"
	"strings"
)

func createTags(c *call) (fields, error) {
	wanted, err := readTags(c.params.Each("Tag"))
	if err != nil {
		return nil, err
	}
	holders, err := c.holders()
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		merged := maps.Clone(*h.tags)
		if merged == nil {
			merged = tags{}
		}
		maps.Copy(merged, wanted)
		if len(merged) > maxTags {
			return nil, refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
		}
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	for _, h := range holders {
		if *h.tags == nil {
			*h.tags = tags{}
		}
		maps.Copy(*h.tags, wanted)
		h.keep()
	}
	c.auditTagged()
	return fields{"return", true}, nil
}

func deleteTags(c *call) (fields, error) {
	holders, err := c.holders()
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	for _, h := range holders {
		for _, p := range c.params.Each("Tag") {
			if value, given := p["Value"]; !given || (*h.tags)[p["Key"]] == value {
				delete(*h.tags, p["Key"])
			}
		}
		if !c.params.Has("Tag") {
			clear(*h.tags)
		}
		h.keep()
	}
	c.auditTagged()
	return fields{"return", true}, nil
}

// holders returns the objects that the request names.
func (c *call) holders() (out []holder, err error) {
	for _, id := range c.params.List("ResourceId") {
		h, found := c.st.holder(id)
		if !found {
			return nil, refuse("InvalidID", "The ID '%s' is not valid", id)
		}
		out = append(out, h)
	}
	return out, nil
}

// tagEntry is one tag of one object.
type tagEntry struct{ id, kind, key, value string }

func describeTags(c *call) (fields, error) {
	return described(c, "tagSet", ec2Pages(1000), c.st.tagEntries(), func(e *tagEntry) values {
		return values{
			"resource-id": {e.id}, "resource-type": {e.kind}, "key": {e.key}, "value": {e.value},
			"tag-key": {e.key}, "tag:" + e.key: {e.value},
		}
	}, func(e *tagEntry) fields {
		return fields{"resourceId", e.id, "resourceType", e.kind, "key", e.key, "value", e.value}
	})
}

func (s *state) tagEntries() (out []*tagEntry) {
	var ids []string
	ids = append(ids, slices.Collect(maps.Keys(s.instances.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.volumes.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.interfaces.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.groups.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.subnets.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.vpcs.ByID))...)
	ids = append(ids, slices.Collect(maps.Keys(s.images.ByID))...)
	slices.SortFunc(ids, strings.Compare)
	for _, id := range ids {
		h, _ := s.holder(id)
		for _, key := range slices.Sorted(maps.Keys(*h.tags)) {
			out = append(out, &tagEntry{id, h.kind, key, (*h.tags)[key]})
		}
	}
	return out
}
