// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// group is a resource group.
type group = resource[groupProperties]

type groupProperties struct{ status }

const groupKind = "Microsoft.Resources/resourceGroups"

var groupName = regexp.MustCompile(`^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$`)

func (c *call) showSubscription() any {
	return map[string]any{
		"id": "/subscriptions/" + c.seed.Subscription, "subscriptionId": c.seed.Subscription, "tenantId": cmp.Or(c.home, c.seed.Tenant), "displayName": "Simulated", "state": "Enabled",
		"authorizationSource":  "RoleBased",
		"subscriptionPolicies": map[string]string{"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"},
	}
}

// serveSubscription answers calls about the subscription, its resource groups, and lists
// of all resources.
func (c *call) serveSubscription() (answer, error) {
	what := strings.ToLower(strings.Join(c.rest, "/"))
	if c.id.group != "" && what == "" {
		return c.serveGroup()
	}
	action := map[string]string{
		"": "Microsoft.Resources/subscriptions/read", "locations": "Microsoft.Resources/subscriptions/locations/read",
		"resourcegroups": "Microsoft.Resources/subscriptions/resourceGroups/read", "resources": "Microsoft.Resources/subscriptions/resources/read",
		"providers": "Microsoft.Resources/subscriptions/providers/read",
	}[what]
	if action == "" || c.method != http.MethodGet {
		return answer{}, unknownPath(c)
	}
	if err := c.authorize(action, c.id.String()); err != nil {
		return answer{}, err
	}
	switch what {
	case "":
		return ok(c.showSubscription())
	case "locations":
		return c.page([]any{c.showLocation()})
	case "resourcegroups":
		return c.page(c.listed(groupKind))
	case "resources":
		return c.listResources()
	}
	return c.page(c.showProviders())
}

func (c *call) showLocation() any {
	zones := []any{}
	for _, z := range c.seed.Zones {
		zones = append(zones, map[string]string{"logicalZone": z, "physicalZone": c.seed.Location + "-az" + z})
	}
	return map[string]any{
		"id": "/subscriptions/" + c.seed.Subscription + "/locations/" + c.seed.Location, "name": c.seed.Location, "type": "Region",
		"displayName": c.seed.Location, "regionalDisplayName": c.seed.Location, "availabilityZoneMappings": zones,
		"metadata": map[string]any{"regionType": "Physical", "regionCategory": "Recommended"},
	}
}

func (c *call) showProviders() (out []any) {
	for _, namespace := range []string{"Microsoft.Authorization", "Microsoft.Compute", "Microsoft.Network", "Microsoft.Resources"} {
		types := []any{}
		for _, k := range c.kinds {
			if rest, found := strings.CutPrefix(k.name, namespace+"/"); found {
				types = append(types, map[string]any{"resourceType": rest, "locations": []string{c.seed.Location}, "apiVersions": versions(k.name)})
			}
		}
		out = append(out, map[string]any{
			"id": "/subscriptions/" + c.seed.Subscription + "/providers/" + namespace, "namespace": namespace, "registrationState": "Registered",
			"registrationPolicy": "RegistrationRequired", "resourceTypes": types,
		})
	}
	return out
}

// listResources lists resources of all types, which a filter can reduce to one, or to those
// with a tag.
func (c *call) listResources() (answer, error) {
	fits, err := resourceFilter(c.query.Get("$filter"))
	if err != nil {
		return answer{}, err
	}
	if c.id.group != "" && c.st.resources.ByID[resourceID{subscription: c.id.subscription, group: c.id.group}.key()] == nil {
		return answer{}, groupNotFound(c.id.group)
	}
	prefix := c.id.key() + "/"
	var out []any
	for _, r := range c.st.resources.Where(func(r *record) bool {
		h := r.top()
		return h.Type != groupKind && strings.HasPrefix(keyOf(h.ID), prefix) && fits(h) && c.visible(r)
	}) {
		h := *r.top()
		h.ETag, h.Identity, h.Plan = "", nil, nil
		out = append(out, h)
	}
	return c.page(out)
}

var filterTerm = regexp.MustCompile(`(?i)^\s*(resourceType|tagName|tagValue|name|resourceGroup|location)\s+eq\s+'([^']*)'\s*$`)

// resourceFilter reads a filter of equalities that are connected by and.
func resourceFilter(text string) (func(*head) bool, error) {
	wanted := map[string]string{}
	if text != "" {
		for _, term := range regexp.MustCompile(`(?i)\s+and\s+`).Split(text, -1) {
			m := filterTerm.FindStringSubmatch(term)
			if m == nil {
				return nil, bad("InvalidFilterInQueryString", "Invalid $filter '%s' specified in the query string.", text)
			}
			wanted[strings.ToLower(m[1])] = m[2]
		}
	}
	if _, alone := wanted["tagvalue"]; alone && wanted["tagname"] == "" {
		return nil, bad("InvalidFilterInQueryString", "Invalid $filter '%s' specified in the query string.", text)
	}
	return func(h *head) bool { return h.fits(wanted) }, nil
}

// fits reports whether a resource has what a filter asks for.
func (h *head) fits(wanted map[string]string) bool {
	id, _ := parseID(h.ID)
	values := map[string]string{"resourcetype": h.Type, "name": h.Name, "resourcegroup": id.group, "location": h.Location}
	if name, given := wanted["tagname"]; given {
		value, has := tagOf(h.Tags, name)
		if wantedValue, given := wanted["tagvalue"]; !has || given && value != wantedValue {
			return false
		}
	}
	for key, value := range values {
		if want, given := wanted[key]; given && !strings.EqualFold(value, want) {
			return false
		}
	}
	return true
}

// tagOf returns the value of a tag, whose name is compared without regard to case.
func tagOf(tags map[string]string, name string) (string, bool) {
	for key, value := range tags {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// serveGroup answers calls about one resource group.
func (c *call) serveGroup() (answer, error) {
	r, g := find[group](c.st, c.id.String())
	verb := map[string]string{http.MethodGet: "read", http.MethodHead: "read", http.MethodPut: "write", http.MethodPatch: "write", http.MethodDelete: "delete"}[c.method]
	if err := c.authorize("Microsoft.Resources/subscriptions/resourceGroups/"+verb, c.id.String()); err != nil {
		return answer{}, err
	}
	if r == nil && c.method != http.MethodPut {
		return answer{}, groupNotFound(c.id.group)
	}
	switch c.method {
	case http.MethodHead:
		return answer{status: http.StatusNoContent}, nil
	case http.MethodGet:
		return ok(g)
	case http.MethodPut:
		return c.putGroup(r)
	case http.MethodDelete:
		return c.deleteGroup(r)
	}
	return answer{}, unknownPath(c)
}

func (c *call) putGroup(before *record) (answer, error) {
	g := &group{}
	if err := c.decode(g); err != nil {
		return answer{}, err
	}
	switch {
	case len(c.id.group) > 90 || !groupName.MatchString(c.id.group):
		return answer{}, bad("InvalidResourceGroup", "The provided resource group name '%s' has these invalid characters or is too long.", c.id.group)
	case g.Location == "":
		return answer{}, bad("LocationRequired", "The location property is required for this definition.")
	case !c.seed.exists(g.Location):
		return answer{}, bad("LocationNotAvailableForResourceGroup", "The provided location '%s' is not available for resource group. List of available regions is '%s'.", g.Location, strings.ReplaceAll(locations, "\n", " "))
	}
	if err := c.checkTags(g.Tags); err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if before == nil {
		before, status = &record{hidden: hidden{Created: c.now}}, http.StatusCreated
	} else if !sameLocation(before.top().Location, g.Location) {
		return answer{}, conflicts("InvalidResourceGroupLocation", "Invalid resource group location '%s'. The Resource group already exists in location '%s'.", g.Location, before.top().Location)
	}
	g.head = head{ID: c.id.String(), Name: c.id.group, Type: groupKind, Location: location(g.Location), Tags: g.Tags}
	g.Properties.ProvisioningState = succeeded
	before.object = g
	c.st.put(before)
	return answer{status: status, body: g}, nil
}

// deleteGroup deletes a group that is empty. Others are not: what is in them would go in
// an order that the platform chooses.
func (c *call) deleteGroup(r *record) (answer, error) {
	prefix := c.id.key() + "/"
	if slices.ContainsFunc(c.st.resources.All(), func(o *record) bool { return strings.HasPrefix(keyOf(o.top().ID), prefix) }) {
		return answer{}, notSimulated("the deletion of resource groups with resources")
	}
	c.st.remove(r)
	return answer{status: http.StatusOK}, nil
}

// location is the name of a location in the form of the API: a display name has spaces and
// upper case.
func location(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

func sameLocation(a, b string) bool { return location(a) == location(b) }

// locations are those of the public cloud, by its list of regions of September 2025 and
// those that opened or are restricted: Denmark East, and the two of Jio.
const locations = `australiacentral australiacentral2 australiaeast australiasoutheast austriaeast belgiumcentral brazilsouth brazilsoutheast canadacentral
canadaeast centralindia centralus chilecentral denmarkeast eastasia eastus eastus2 francecentral francesouth germanynorth germanywestcentral indonesiacentral israelcentral
italynorth japaneast japanwest jioindiacentral jioindiawest koreacentral koreasouth malaysiawest mexicocentral newzealandnorth northcentralus northeurope norwayeast
norwaywest polandcentral qatarcentral southafricanorth southafricawest southcentralus southeastasia southindia spaincentral swedencentral switzerlandnorth
switzerlandwest uaecentral uaenorth uksouth ukwest westcentralus westeurope westindia westus westus2 westus3`

// exists reports whether the platform has a location: that of the seed, or one of the
// public cloud.
func (s Seed) exists(name string) bool {
	return sameLocation(name, s.Location) || slices.Contains(strings.Fields(locations), location(name))
}
