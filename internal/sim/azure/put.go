// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// put creates or replaces a resource.
func (c *call) put(k *kind, id resourceID, before *record) (answer, error) {
	o := k.create()
	if err := c.decode(o); err != nil {
		return answer{}, err
	}
	return c.store(k, id, o, before)
}

// patch changes some properties of a resource, and leaves the others as they are. Those of
// the network can change their tags only.
func (c *call) patch(k *kind, id resourceID, before *record) (answer, error) {
	var change map[string]any
	if err := json.Unmarshal(c.body, &change); err != nil {
		return answer{}, bad("InvalidRequestContent", "The request content was invalid and could not be deserialized: '%v'.", err)
	}
	if id.provider == "Microsoft.Network" {
		var tags struct {
			Tags map[string]string `json:"tags"`
		}
		if err := c.decode(&tags); err != nil {
			return answer{}, err
		}
	}
	raw, err := json.Marshal(before.object)
	if err != nil {
		return answer{}, err
	}
	var whole map[string]any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return answer{}, err
	}
	if tags, given := change["tags"]; given {
		delete(change, "tags") // they are replaced
		whole["tags"] = tags
	}
	merge(whole, change)
	if raw, err = json.Marshal(whole); err != nil {
		return answer{}, err
	}
	o := k.create()
	if err := decodeStrictly(raw, o, id.provider); err != nil {
		return answer{}, err
	}
	return c.store(k, id, o, before)
}

// merge puts the values of change into a tree.
func merge(into, change map[string]any) {
	for key, value := range change {
		below, isTree := value.(map[string]any)
		there, wasTree := into[key].(map[string]any)
		switch {
		case isTree && wasTree:
			merge(there, below)
		case value == nil:
			delete(into, key)
		default:
			into[key] = value
		}
	}
}

// store keeps a resource that a call has written, and begins the operation.
func (c *call) store(k *kind, id resourceID, o object, before *record) (answer, error) {
	r := &record{object: o}
	if before != nil {
		r.hidden = before.hidden
	} else {
		r.Created, r.Visible = c.now, c.now.Add(c.lag())
	}
	if err := c.complete(k, id, r, before); err != nil {
		return answer{}, err
	}
	if err := c.checkConditions(k, before); err != nil {
		return answer{}, err
	}
	if k.check != nil {
		if err := k.check(c, r, before); err != nil {
			return answer{}, err
		}
	}
	if err := c.authorizeLinks(k, id, r); err != nil {
		return answer{}, err
	}
	return c.accept(k, r, before)
}

// accept has the effects of a resource that passed all checks.
func (c *call) accept(k *kind, r, before *record) (answer, error) {
	got := answer{status: http.StatusOK, header: http.Header{}}
	*r.state() = updating
	if before == nil {
		*r.state() = creating
		got.status = max(k.created, http.StatusOK)
	}
	if k.synchronous {
		*r.state() = succeeded
	}
	if before != nil {
		*before = *r // others refer to it
		r = before
	}
	c.mark(k, r)
	c.st.put(r)
	c.auditResource(r)
	if k.apply != nil {
		if err := k.apply(c, r, before); err != nil {
			return answer{}, err
		}
	}
	if !k.synchronous {
		c.begin(k, r, &got)
	}
	got.body = c.shown(k, r)
	return got, nil
}

// mark gives a changed resource its ETag.
func (c *call) mark(k *kind, r *record) {
	switch {
	case k.onlyNew:
		r.top().ETag = fmt.Sprintf(`"%d"`, r.Serial+1)
	case k.hasETag:
		r.top().ETag = `W/"` + newUUID() + `"`
	default:
		r.top().ETag = ""
	}
}

// complete checks and fills what all resources have.
func (c *call) complete(k *kind, id resourceID, r, before *record) error {
	h := r.top()
	if name := id.name(); k.rule.pattern != nil && (len(name) > k.rule.longest || !k.rule.pattern.MatchString(name)) {
		return invalidName(id, k.rule.longest)
	}
	switch {
	case h.Location == "" && before == nil:
		return bad("LocationRequired", "The location property is required for this definition.")
	case h.Location == "":
		h.Location = before.top().Location
	case !sameLocation(h.Location, c.seed.Location):
		return bad("LocationNotAvailableForResourceType", "The provided location '%s' is not available for resource type '%s'. List of available regions for the resource type is '%s'.", h.Location, k.name, c.seed.Location)
	}
	for _, unfit := range []struct {
		has  bool
		what string
	}{{len(h.Zones) > 0 && !k.zonal, "zones"}, {h.SKU != nil && !k.skus, "sku"}, {h.Identity != nil && !k.identified, "identity"}} {
		if unfit.has {
			return decodeStrictly([]byte(`{"`+unfit.what+`":1}`), &struct{}{}, id.provider)
		}
	}
	for _, z := range h.Zones {
		if !slices.Contains(c.seed.Zones, z) {
			return bad("AvailabilityZoneNotSupported", "The zone(s) '%s' for resource '%s/%s' is not supported. The supported zones for location '%s' are '%s'",
				z, k.name, id.name(), c.seed.Location, strings.Join(c.seed.Zones, ","))
		}
	}
	if err := c.checkTags(h.Tags); err != nil {
		return err
	}
	if err := c.checkPolicy(id, h); err != nil {
		return err
	}
	h.ID, h.Name, h.Type, h.Location = id.String(), id.name(), k.name, location(h.Location)
	h.ManagedBy = ""
	if before != nil {
		h.ID, h.Name, h.ManagedBy = before.top().ID, before.top().Name, before.top().ManagedBy
		if !slices.Equal(h.Zones, before.top().Zones) && len(h.Zones) > 0 {
			return bad("ResourceAvailabilityZonesCannotBeModified", "Resource %s has an existing availability zone constraint %s and the request has availability zone constraint %s, which do not match. Zones cannot be added/updated/removed once the resource is created. The resource cannot be updated from regional to zonal or vice-versa.",
				h.ID, strings.Join(before.top().Zones, ", "), strings.Join(h.Zones, ", "))
		}
		h.Zones = before.top().Zones
	}
	return nil
}

func invalidName(id resourceID, longest int) error {
	if id.provider == "Microsoft.Network" {
		return bad("InvalidResourceName", "Resource name %s is invalid. The name can be up to %d characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.", id.name(), longest)
	}
	return invalidParameter(id.types[len(id.types)-1], "The entity name '%s' is invalid according to its validation rule: it has at most %d characters.", id.name(), longest)
}

// checkConditions compares the ETags of a call with that of the resource, where the service
// does. Others overwrite what there is.
func (c *call) checkConditions(k *kind, before *record) error {
	match, none := c.http.Header.Get("If-Match"), c.http.Header.Get("If-None-Match")
	failed := func(text string) error {
		r := refuse(http.StatusPreconditionFailed, "PreconditionFailed", "%s", text)
		if !k.onlyNew {
			r = refuse(http.StatusPreconditionFailed, "PreconditionFailed", "Precondition failed.")
			r.details = []refusal{{code: "PreconditionFailedEtagMismatch", message: text}}
		}
		return r
	}
	switch {
	case k.onlyNew && none == "*" && before != nil:
		return failed(fmt.Sprintf("Etag provided in if-none-match header * does not match etag %s of resource.", before.top().ETag))
	case k.onlyNew && none != "" && none != "*":
		return bad("InvalidParameter", "The value '%s' of the If-None-Match header is not supported.", none)
	case !k.hasETag || match == "":
		return nil
	case before == nil:
		return failed(fmt.Sprintf("Etag provided in if-match header %s does not match: the resource does not exist.", match))
	case match != "*" && match != before.top().ETag:
		return failed(fmt.Sprintf("Etag provided in if-match header %s does not match etag %s of resource %s.", match, before.top().ETag, before.top().ID))
	}
	return nil
}

const (
	maxTags     = 50
	maxTagName  = 512
	maxTagValue = 256
)

func (c *call) checkTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return bad("InvalidTags", "The number of tags '%d' exceeds the maximum of %d.", len(tags), maxTags)
	}
	seen := map[string]bool{}
	for name, value := range tags {
		switch folded := strings.ToLower(name); {
		case name == "" || len(name) > maxTagName:
			return bad("InvalidTagNameLength", "The length of the tag name '%s' must be between 1 and %d characters.", name, maxTagName)
		case len(value) > maxTagValue:
			return bad("InvalidTagValueLength", "Tag value too large. Following tag value '%s' exceeded the maximum length. Maximum allowed length for tag value - '%d' characters.", value, maxTagValue)
		case strings.ContainsAny(name, `<>%&\?/`):
			return bad("InvalidTagNameCharacters", "The tag names '%s' have reserved characters '<,>,%%,&,\\,?,/' or control characters.", name)
		case strings.HasPrefix(folded, "microsoft") || strings.HasPrefix(folded, "azure") || strings.HasPrefix(folded, "windows"):
			return bad("ReservedTagName", "The tag name '%s' begins with a reserved prefix.", name)
		case seen[folded]:
			return bad("DuplicateTags", "The tag name '%s' is there twice.", name)
		default:
			seen[folded] = true
		}
	}
	return nil
}

// checkPolicy refuses what a policy of the subscription disallows: resources without a tag.
func (c *call) checkPolicy(id resourceID, h *head) error {
	for _, name := range c.seed.RequiredTags {
		if _, has := tagOf(h.Tags, name); !has && c.who != nil && c.who.Name != adminName {
			r := refuse(http.StatusForbidden, "RequestDisallowedByPolicy", "Resource '%s' was disallowed by policy. Policy identifiers: '[{\"policyAssignment\":{\"name\":\"Require a tag on resources\"}}]'.", id.name())
			return r.about(id.name())
		}
	}
	return nil
}
