// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/http"
	"regexp"
	"strings"
)

// serveProvider answers calls of a provider about the subscription: lists of resources,
// sizes, and what is at a location.
func (c *call) serveProvider() (answer, error) {
	if c.method != http.MethodGet || len(c.id.types) == 0 {
		return answer{}, unknownPath(c)
	}
	provider, first := strings.ToLower(c.id.provider), strings.ToLower(c.id.types[0])
	scope := resourceID{subscription: c.id.subscription}.String()
	switch {
	case provider == "microsoft.compute" && first == "skus" && len(c.id.types) == 1:
		if err := c.authorize("Microsoft.Compute/skus/read", scope); err != nil {
			return answer{}, err
		}
		return c.serveSizes()
	case provider == "microsoft.features":
		return c.serveFeature(scope)
	case first == "locations" && len(c.id.types) > 1:
		return c.serveLocation(provider, scope)
	}
	k := c.kinds[strings.ToLower(c.id.kind())]
	if k == nil || len(c.id.types) > 1 {
		return answer{}, unknownPath(c)
	}
	if err := c.authorize(k.name+"/read", scope); err != nil {
		return answer{}, err
	}
	return c.page(c.listed(k.name))
}

// serveFeature answers whether the subscription has registered for a feature.
func (c *call) serveFeature(scope string) (answer, error) {
	if err := c.authorize("Microsoft.Features/providers/features/read", scope); err != nil {
		return answer{}, err
	}
	if c.id.kind() != "Microsoft.Features/providers/features" || len(c.id.names) != 2 || !strings.EqualFold(c.id.names[1], "EncryptionAtHost") {
		return answer{}, refuse(http.StatusNotFound, "FeatureNotFound", "The feature '%s' could not be found.", c.id.name())
	}
	state := "NotRegistered"
	if c.seed.EncryptionAtHost {
		state = "Registered"
	}
	return ok(tree{"id": c.id.String(), "name": "Microsoft.Compute/EncryptionAtHost", "type": c.id.kind(), "properties": tree{"state": state}})
}

var locationFilter = regexp.MustCompile(`(?i)^\s*location\s+eq\s+'([^']*)'\s*$`)

func (c *call) serveSizes() (answer, error) {
	if text := c.query.Get("$filter"); text != "" {
		m := locationFilter.FindStringSubmatch(text)
		if m == nil {
			return answer{}, bad("InvalidFilter", "The filter '%s' is not supported. Supported: location eq '{location}'.", text)
		}
		if !sameLocation(m[1], c.seed.Location) {
			return c.page(nil)
		}
	}
	return c.page(c.showSizes())
}

// serveLocation answers for operations, quotas, the marketplace and community galleries.
func (c *call) serveLocation(provider, scope string) (answer, error) {
	names, types := c.id.names, c.id.types
	if !sameLocation(names[0], c.seed.Location) {
		return answer{}, bad("NoRegisteredProviderFound", "No registered resource provider found for location '%s' and API version '%s' for type 'locations'.", names[0], c.query.Get("api-version"))
	}
	what := strings.ToLower(types[1])
	action := c.id.provider + "/" + strings.Join(types, "/") + "/read"
	if what == "publishers" {
		action = "Microsoft.Compute/locations/publishers/artifacttypes/offers/skus/versions/read"
	}
	if what == "operationresults" {
		action = c.id.provider + "/locations/operations/read"
	}
	if err := c.authorize(action, scope); err != nil {
		return answer{}, err
	}
	switch {
	case (what == "operations" || what == "diskoperations" || what == "operationresults") && len(names) == 2:
		return c.serveOperation(names[1], what == "operationresults" || c.query.Get("monitor") == "true")
	case what == "usages" && provider == "microsoft.compute":
		return c.page(showUsages(c.usages()))
	case what == "usages":
		return c.page(showUsages(c.networkUsages()))
	case what == "publishers":
		return c.servePublishers(names, types)
	case what == "communitygalleries":
		return c.serveCommunity(names)
	case what == "virtualmachines":
		return c.page(c.listed(vmKind))
	}
	return answer{}, unknownPath(c)
}
