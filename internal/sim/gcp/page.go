// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

const maxPage = 500

// chosen returns the objects that the filter of a list lets through, in its order, and of
// those the part of one page.
func (c *call) chosen(all []object) (part []object, next string, err error) {
	all, err = c.filtered(all)
	if err != nil {
		return nil, "", err
	}
	if err := c.sort(all); err != nil {
		return nil, "", err
	}
	return c.part(all)
}

func (c *call) filtered(all []object) ([]object, error) {
	text := c.query.Get("filter")
	if text == "" {
		return all, nil
	}
	fits, err := parseFilter(text)
	if err != nil {
		return nil, invalid("filter", text, "Invalid list filter expression.")
	}
	return slices.DeleteFunc(slices.Clone(all), func(o object) bool { return !fits(o) }), nil
}

func (c *call) sort(all []object) error {
	switch order := c.query.Get("orderBy"); order {
	case "", "name":
		slices.SortStableFunc(all, func(a, b object) int { return cmp.Compare(a.str("name"), b.str("name")) })
	case "creationTimestamp desc":
		slices.SortStableFunc(all, func(a, b object) int { return cmp.Compare(b.str("creationTimestamp"), a.str("creationTimestamp")) })
	default:
		return invalid("orderBy", order, "Invalid list order by expression.")
	}
	return nil
}

func (c *call) part(all []object) ([]object, string, error) {
	size := maxPage
	if text := c.query.Get("maxResults"); text != "" {
		size, _ = strconv.Atoi(text) // is a number, as was checked
		if size > maxPage {
			return nil, "", invalid("maxResults", text, "Values must be within the following range: [0, 500]")
		}
		size = cmp.Or(size, maxPage)
	}
	from := 0
	if token := c.query.Get("pageToken"); token != "" {
		raw, err := base64.URLEncoding.DecodeString(token)
		place, query, _ := strings.Cut(string(raw), " ")
		number, numberErr := strconv.Atoi(place)
		if err != nil || numberErr != nil || query != c.listKey() || number > len(all) {
			return nil, "", invalid("pageToken", token, "Invalid page token.")
		}
		from = number
	}
	if from+size >= len(all) {
		return all[from:], "", nil
	}
	return all[from : from+size], base64.URLEncoding.EncodeToString([]byte(strconv.Itoa(from+size) + " " + c.listKey())), nil
}

// listKey is what a page token belongs to.
func (c *call) listKey() string {
	return c.method.Name + " " + c.scope() + " " + c.query.Get("filter") + " " + c.query.Get("orderBy")
}

// page answers a list.
func (c *call) page(kind, path string, all []object) (any, error) {
	part, next, err := c.chosen(all)
	if err != nil {
		return nil, err
	}
	out := object{"kind": kind, "id": c.full(path), "selfLink": c.link(path)}
	if len(part) > 0 {
		out["items"] = anys(part)
	}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out, nil
}

// aggregated answers a list over all zones and regions. Places without an object have a
// warning instead.
func (c *call) aggregated(kind, collection string, all []object) (any, error) {
	part, next, err := c.chosen(all)
	if err != nil {
		return nil, err
	}
	items := object{}
	for _, place := range c.places(collection) {
		items[place] = object{"warning": object{
			"code": "NO_RESULTS_ON_PAGE", "message": "There are no results for scope '" + place + "' on this page.", "data": []any{object{"key": "scope", "value": place}},
		}}
	}
	for _, o := range part {
		place := placeOf(o.str("selfLink"))
		scoped := items.sub(place)
		list, _ := scoped[collection].([]any)
		items[place] = object{collection: append(list, o)}
	}
	out := object{"kind": kind, "id": c.full("aggregated/" + collection), "items": items, "selfLink": c.link("aggregated/" + collection)}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out, nil
}

// places are those that an aggregated list shows.
func (c *call) places(collection string) (out []string) {
	zonal := slices.Contains([]string{"instances", "disks", "machineTypes", "diskTypes", "instanceGroups", "operations"}, collection)
	regional := slices.Contains([]string{"addresses", "forwardingRules", "subnetworks", "routers", "operations", "disks"}, collection)
	for _, region := range c.st.all("regions") {
		if regional {
			out = append(out, "regions/"+region.name())
		}
	}
	for _, zone := range c.st.all("zones") {
		if zonal {
			out = append(out, "zones/"+zone.name())
		}
	}
	return out
}

// placeOf is the zone, the region or global in a link.
func placeOf(link string) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(link, linkPrefix+"projects/"), "/")
	parts := strings.Split(path, "/")
	if parts[0] == "global" || len(parts) < 3 {
		return "global"
	}
	return parts[0] + "/" + parts[1]
}
