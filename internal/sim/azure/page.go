// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"maps"
	"net/url"
	"strconv"
)

// pageSize is how many resources an answer has.
const pageSize = 200

// page answers with a part of a list, and where the next one is.
func (c *call) page(all []any) (answer, error) {
	size := pageSize
	if text := c.query.Get("$top"); text != "" {
		top, err := strconv.Atoi(text)
		if err != nil || top < 1 {
			return answer{}, bad("InvalidParameterValue", "The value '%s' of the query parameter $top is not a positive number.", text)
		}
		size = min(top, size)
	}
	if c.seed.PageSize > 0 {
		size = min(size, c.seed.PageSize)
	}
	from := 0
	if text := c.query.Get("$skiptoken"); text != "" {
		var err error
		if from, err = strconv.Atoi(text); err != nil || from < 0 || from > len(all) {
			return answer{}, bad("InvalidSkipToken", "The skip token '%s' is not valid.", text)
		}
	}
	to := min(from+size, len(all))
	body := map[string]any{"value": append([]any{}, all[from:to]...)}
	if to < len(all) {
		query := url.Values{}
		maps.Copy(query, c.query)
		query.Set("$skiptoken", strconv.Itoa(to))
		body["nextLink"] = c.baseURL() + c.http.URL.EscapedPath() + "?" + query.Encode()
	}
	return ok(body)
}
