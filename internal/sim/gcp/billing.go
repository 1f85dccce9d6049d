// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostSKUs is how many SKUs a page of the billing catalogue has.
const mostSKUs = 5000

var skuPath = regexp.MustCompile(`^v1/services/([0-9A-F-]+)/skus$`)

// listSKUs answers the billing catalogue. Every caller whose project has enabled the service
// may read it.
func (c *call) listSKUs(service string) (any, error) {
	if c.seed.NoBilling {
		return nil, c.serviceDisabled("cloudbilling.googleapis.com", "Cloud Billing API")
	}
	all, known := c.skus()[service]
	if !known {
		return nil, refusal{status: http.StatusNotFound, reason: "notFound", message: "Service services/" + service + " was not found.", rpc: "NOT_FOUND"}
	}
	for key := range c.query {
		if !slices.Contains([]string{"pageSize", "pageToken", "currencyCode", "fields", "alt", "prettyPrint"}, key) {
			return nil, badPayload("", "Invalid JSON payload received. Unknown name \""+key+"\": Cannot bind query parameter. Field '"+key+"' could not be found in request message.")
		}
	}
	if currency := cmp.Or(c.query.Get("currencyCode"), "USD"); currency != "USD" {
		return nil, badPayload("currencyCode", "The simulated catalogue has prices in USD only.")
	}
	size, sizeErr := strconv.Atoi(cmp.Or(c.query.Get("pageSize"), strconv.Itoa(mostSKUs)))
	from, fromErr := strconv.Atoi(cmp.Or(c.query.Get("pageToken"), "0"))
	if sizeErr != nil || fromErr != nil || size < 0 || size > mostSKUs || from < 0 || from > len(all) {
		return nil, badPayload("", "Request contains an invalid argument.")
	}
	return c.skuPage(all, from, cmp.Or(c.seed.SKUPage, cmp.Or(size, mostSKUs)))
}

func (c *call) skuPage(all []sku, from, size int) (any, error) {
	to := min(from+size, len(all))
	var page []any
	for _, s := range all[from:to] {
		page = append(page, s.object())
	}
	out := object{"skus": page, "nextPageToken": ""}
	if to < len(all) {
		out["nextPageToken"] = strconv.Itoa(to)
	}
	mask := c.query.Get("fields")
	if mask == "" || mask == "*" {
		return out, nil
	}
	fields, rest, ok := parseMask(mask)
	if !ok || rest != "" {
		return nil, badPayload("fields", "Invalid field selection "+mask)
	}
	return masked(plain(out), fields), nil
}

// plain is a value as JSON has it.
func plain(value any) (out any) {
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// mask are the fields of a partial answer; nil is everything below.
type mask map[string]mask

// parseMask reads fields such as a,b(c,d/e).
func parseMask(text string) (fields mask, rest string, ok bool) {
	fields = mask{}
	for {
		i := strings.IndexAny(text, ",()/")
		name := text
		if i >= 0 {
			name = text[:i]
		}
		if name == "" {
			return nil, "", false
		}
		fields[name] = nil
		text = text[len(name):]
		switch {
		case strings.HasPrefix(text, "("):
			if fields[name], text, ok = parseMask(text[1:]); !ok || !strings.HasPrefix(text, ")") {
				return nil, "", false
			}
			text = text[1:]
		case strings.HasPrefix(text, "/"):
			return nil, "", false // not simulated
		}
		if !strings.HasPrefix(text, ",") {
			return fields, text, true
		}
		text = text[1:]
	}
}

// masked is a value without the fields that were not asked for.
func masked(value any, fields mask) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range fields {
			if part, has := v[name]; has {
				out[name] = part
				if below != nil {
					out[name] = masked(part, below)
				}
			}
		}
		return out
	case []any:
		out := []any{}
		for _, part := range v {
			out = append(out, masked(part, fields))
		}
		return out
	}
	return value
}

// serviceDisabled is the answer to a project that has not enabled a service.
func (c *call) serviceDisabled(service, title string) error {
	link := "https://console.developers.google.com/apis/api/" + service + "/overview?project=" + c.number
	return refusal{
		status: http.StatusForbidden, reason: "accessNotConfigured", domain: "usageLimits", rpc: "PERMISSION_DENIED",
		message: title + " has not been used in project " + c.number + " before or it is disabled. Enable it by visiting " + link + " then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.",
		details: []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED", "domain": "googleapis.com",
			"metadata": map[string]any{"service": service, "consumer": "projects/" + c.number},
		}},
	}
}
