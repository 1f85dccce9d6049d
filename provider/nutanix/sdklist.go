// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	v3 "github.com/nutanix-cloud-native/prism-go-client/v3"
)

// page asks for a part of a listing.
type page struct {
	Kind   string `json:"kind"`
	Filter string `json:"filter,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Length int    `json:"length,omitempty"`
}

// most is how many entities Prism Central returns at once.
const most = 500

// groups asks for entities that have no listing of their own.
type groups struct {
	EntityType string                         `json:"entity_type"`
	Attributes []*v3.GroupsRequestedAttribute `json:"group_member_attributes"`
	Count      int                            `json:"group_member_count"`
}

// list reads the entities that a filter of the form attribute==name selects, or more of them:
// callers compare the names.
func list[E, T any](ctx context.Context, p prism, kind, filter string, convert func(*E) T) ([]T, error) {
	return listAt(ctx, p, kind, "/"+kind+"s/list", literal(filter), convert)
}

// plain are the names that a filter can have as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9._ -]+$`)

// literal returns a filter, or none if its name would be read as something else: names in
// filters are regular expressions, and commas, semicolons and brackets join comparisons.
func literal(filter string) string {
	if _, name, _ := strings.Cut(filter, "=="); !plain.MatchString(name) {
		return ""
	}
	return filter
}

// listAt reads all pages of a listing. If entities vanish meanwhile, others move to pages
// that were read before: then it begins again, and in the end fails.
func listAt[E, T any](ctx context.Context, p prism, kind, path, filter string, convert func(*E) T) ([]T, error) {
	for range 3 {
		all, whole, err := pages(ctx, p, page{Kind: kind, Filter: filter, Length: most}, path, convert)
		if err != nil || whole {
			return all, err
		}
	}
	return nil, fmt.Errorf("the list of %ss changes while it is read", kind)
}

func pages[E, T any](ctx context.Context, p prism, next page, path string, convert func(*E) T) (all []T, whole bool, err error) {
	for total := 0; ; next.Offset += most {
		var answer struct {
			Entities []*E `json:"entities"`
			Metadata *struct {
				Total int `json:"total_matches"`
			} `json:"metadata"`
		}
		if err := p.call(ctx, http.MethodPost, path, next, &answer); err != nil {
			return nil, false, err
		}
		if answer.Metadata == nil {
			return nil, false, errForeign
		}
		if answer.Metadata.Total < total {
			return nil, false, nil
		}
		total = answer.Metadata.Total
		for _, e := range answer.Entities {
			all = append(all, convert(e))
		}
		if len(answer.Entities) == 0 || next.Offset+most >= total {
			return all, true, nil
		}
	}
}

func categoryPath(key, value string) string {
	if value == "" {
		return "/categories/" + url.PathEscape(key)
	}
	return "/categories/" + url.PathEscape(key) + "/" + url.PathEscape(value)
}
