// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// canonical returns the request in the form that is signed.
func canonical(r *http.Request, body []byte, headers []string) string {
	path := r.URL.EscapedPath()
	path = cmp.Or(path, "/")
	var lines strings.Builder
	for _, name := range headers {
		lines.WriteString(name + ":" + header(r, name) + "\n")
	}
	return strings.Join([]string{r.Method, path, query(r.URL.Query()), lines.String(), strings.Join(headers, ";"), hash(body)}, "\n")
}

func header(r *http.Request, name string) string {
	switch name {
	case "host":
		return r.Host
	case "content-length":
		return strconv.FormatInt(r.ContentLength, 10)
	}
	var values []string
	for _, v := range r.Header.Values(name) {
		values = append(values, strings.Join(strings.Fields(v), " "))
	}
	return strings.Join(values, ",")
}

func query(values url.Values) string {
	var pairs []string
	for key, all := range values {
		for _, value := range all {
			pairs = append(pairs, escape(key)+"="+escape(value))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
