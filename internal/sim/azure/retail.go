// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// retailHost is that of the price service, which wants no token.
const retailHost = "prices.azure.com"

// retailPageSize is how many prices an answer has.
const retailPageSize = 1000

// isRetail reports whether a call is for the price service.
func isRetail(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.EqualFold(host, retailHost)
}

// serveRetail answers a call for prices.
func (a *Azure) serveRetail(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case a.seed.PriceStatus != 0:
		refuseRetail(w, a.seed.PriceStatus, http.StatusText(a.seed.PriceStatus))
		return
	case r.Method != http.MethodGet || r.URL.Path != "/api/retail/prices":
		refuseRetail(w, http.StatusNotFound, "Resource not found")
		return
	case strings.Trim(cmp.Or(query.Get("currencyCode"), "USD"), "'") != "USD":
		refuseRetail(w, http.StatusBadRequest, "The simulator has prices in USD only")
		return
	}
	match, ok := retailFilter(query.Get("$filter"))
	from, err := strconv.Atoi(cmp.Or(query.Get("$skip"), "0"))
	if !ok || err != nil || from < 0 {
		refuseRetail(w, http.StatusBadRequest, "Invalid OData parameters supplied")
		return
	}
	a.writePrices(w, query, match, from)
}

func (a *Azure) writePrices(w http.ResponseWriter, query url.Values, match func(price) bool, from int) {
	found := []price{}
	for _, p := range a.prices() {
		if match(p) {
			found = append(found, p)
		}
	}
	size := cmp.Or(a.seed.PageSize, retailPageSize)
	to := min(from+size, len(found))
	body := map[string]any{"BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail", "NextPageLink": nil}
	if to < len(found) {
		query.Set("$skip", strconv.Itoa(to))
		body["NextPageLink"] = "https://" + retailHost + ":443/api/retail/prices?" + query.Encode()
	}
	page := found[min(from, to):to]
	body["Items"], body["Count"] = page, len(page)
	writeJSON(w, http.StatusOK, body)
}

func refuseRetail(w http.ResponseWriter, status int, text string) {
	code := map[int]string{http.StatusBadRequest: "BadRequest", http.StatusTooManyRequests: "TooManyRequests", http.StatusNotFound: "NotFound"}[status]
	writeJSON(w, status, map[string]any{"Error": map[string]any{"Code": cmp.Or(code, "InternalServerError"), "Message": text}})
}

// retailFields are the fields that the service filters by.
func retailFields() map[string]func(price) string {
	return map[string]func(price) string{
		"armRegionName": func(p price) string { return p.ArmRegionName }, "location": func(p price) string { return p.Location },
		"meterId": func(p price) string { return p.MeterID }, "meterName": func(p price) string { return p.MeterName },
		"productId": func(p price) string { return p.ProductID }, "productName": func(p price) string { return p.ProductName },
		"skuId": func(p price) string { return p.SkuID }, "skuName": func(p price) string { return p.SkuName }, "armSkuName": func(p price) string { return p.ArmSkuName },
		"serviceName": func(p price) string { return p.ServiceName }, "serviceId": func(p price) string { return p.ServiceID },
		"serviceFamily": func(p price) string { return p.ServiceFamily }, "priceType": func(p price) string { return p.Type },
	}
}

var retailTerm = regexp.MustCompile(`^\s*(\w+)\s+(eq|ne)\s+'((?:[^']|'')*)'\s*(and\s|$)`)

// retailFilter reads terms that are joined by and. Values are compared as they are written.
func retailFilter(text string) (match func(price) bool, ok bool) {
	match = func(price) bool { return true }
	for text != "" {
		m := retailTerm.FindStringSubmatch(text)
		if m == nil {
			return nil, false
		}
		field, known := retailFields()[m[1]]
		if !known {
			return nil, false
		}
		before, equal, value := match, m[2] == "eq", strings.ReplaceAll(m[3], "''", "'")
		match = func(p price) bool { return before(p) && (field(p) == value) == equal }
		if text = text[len(m[0]):]; text == "" && m[4] != "" {
			return nil, false
		}
	}
	return match, true
}
