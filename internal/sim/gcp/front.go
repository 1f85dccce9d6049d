// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// hostNames are those of the services, and the manifest's own.
func (g *GCP) hostNames() []string {
	return append([]string{
		"compute.googleapis.com", "www.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com",
		"cloudresourcemanager.googleapis.com", "cloudbilling.googleapis.com",
	}, g.seed.Hosts...)
}

// requestSet is what the labels or the description in a request say.
func requestSet(body []byte) tag.Set {
	o := object{}
	if json.Unmarshal(body, &o) != nil {
		return tag.Set{}
	}
	return setOf(o)
}

// content is what a request writes to the platform. A machine configuration in metadata is
// left out: it has keys in it, and on this platform it travels there.
func content(body []byte) []byte {
	o := object{}
	if json.Unmarshal(body, &o) != nil {
		return body
	}
	for _, item := range append(o.sub("metadata").subs("items"), o.subs("items")...) {
		if audit.Configures([]byte(item.str("value"))) {
			delete(item, "value")
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return body
	}
	return raw
}

// classify says what a request is in the words of a fault plan. Tokens and the resource
// manager are reads.
func (g *GCP) classify(r *http.Request) fault.Call {
	q := g.read(r)
	m, known := g.methods[q.method.Name]
	if !q.known || !known {
		return fault.Call{Verb: fault.Get}
	}
	c := fault.Call{Verb: m.verb, Resource: m.resource, Name: q.params[resourceParam(q.method.Name)]}
	if c.Verb == fault.Create {
		o := object{}
		if json.Unmarshal(q.raw, &o) == nil {
			c.Name = o.str("name")
		}
	}
	return c
}

// refuseFault answers a call that the fault plan refuses.
func (g *GCP) refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	q := g.read(r)
	if said := map[fault.Kind]string{fault.Deny: "Invalid grant: account not found", fault.TokenExpiry: "Invalid JWT Signature."}[f.Kind]; said != "" && !q.known && strings.HasSuffix(q.service, "token") {
		writeRefusal(w, grantRefused("invalid_grant", said))
		return
	}
	writeRefusal(w, g.faultError(q, f.Kind))
}

func (g *GCP) faultError(q request, k fault.Kind) error {
	switch k { //nolint:exhaustive // others do not refuse
	case fault.Throttle:
		return throttled(g.number)
	case fault.TokenExpiry:
		return invalidCredentials("ACCESS_TOKEN_EXPIRED")
	case fault.Quota:
		return g.overQuota(q)
	}
	c := &call{GCP: g, request: q}
	if !q.known {
		return denied("The caller does not have permission")
	}
	return c.otherProject(g.seed.Project)
}

// throttled is the answer to a caller with too many calls.
func throttled(number string) error {
	return refusal{
		status: http.StatusForbidden, reason: "rateLimitExceeded", domain: "usageLimits",
		message: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'compute.googleapis.com' for consumer 'project_number:" + number + "'.",
		details: []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com",
			"metadata": map[string]any{"service": "compute.googleapis.com", "consumer": "projects/" + number},
		}},
	}
}

// overQuota is the answer to a create call that no quota has room for.
func (g *GCP) overQuota(q request) error {
	in := "in region " + g.seed.Region
	switch q.method.Name {
	case "addresses.insert":
		return quotaExceeded("STATIC_ADDRESSES", 8, in)
	case "forwardingRules.insert":
		return quotaExceeded("FORWARDING_RULES", 15, "globally")
	case "regionBackendServices.insert":
		return quotaExceeded("BACKEND_SERVICES", 9, "globally")
	case "regionHealthChecks.insert":
		return quotaExceeded("HEALTH_CHECKS", 75, "globally")
	case "instanceGroups.insert":
		return quotaExceeded("INSTANCE_GROUPS", 100, in)
	case "firewalls.insert":
		return quotaExceeded("FIREWALLS", 100, "globally")
	case "disks.insert":
		return quotaExceeded("DISKS_TOTAL_GB", 4096, in)
	}
	return quotaExceeded("CPUS", 24, in)
}
