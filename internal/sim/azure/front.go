// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

func (a *Azure) hostNames() []string {
	return append([]string{"management.azure.com", "login.microsoftonline.com", retailHost}, a.seed.Hosts...)
}

// written is the part of a request that says whom the resource belongs to.
type written struct {
	Tags map[string]string `json:"tags"`
}

// requestSet is what the tags in a request say.
func requestSet(body []byte) tag.Set {
	var w written
	if json.Unmarshal(body, &w) != nil {
		return tag.Set{}
	}
	return tag.Azure().Read(w.Tags)
}

// content is what a request writes to the platform. A machine configuration in custom data
// is left out: it has keys in it, and on this platform it travels there.
func content(body []byte) []byte {
	var tree map[string]any
	if json.Unmarshal(body, &tree) != nil {
		return body
	}
	if properties, ok := tree["properties"].(map[string]any); ok {
		if os, ok := properties["osProfile"].(map[string]any); ok {
			text, _ := os["customData"].(string)
			if data, err := base64.StdEncoding.DecodeString(text); err == nil && audit.Configures(data) {
				delete(os, "customData")
			}
		}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return body
	}
	return raw
}

// classify says what a request is in the words of a fault plan. A PUT of a resource that
// exists is an update.
func (a *Azure) classify(r *http.Request) fault.Call {
	if _, _, login := loginPath(r.URL.Path); login || isRetail(r) {
		return fault.Call{Verb: fault.Get}
	}
	id, _ := parseID(r.URL.EscapedPath())
	k, owner := a.kinds[strings.ToLower(id.kind())], id
	for k == nil && len(owner.types) > 1 {
		owner = owner.parent()
		k = a.kinds[strings.ToLower(owner.kind())]
	}
	if k == nil || id.provider == "" {
		return fault.Call{Verb: fault.Get}
	}
	c := fault.Call{Resource: k.fault, Name: owner.name()}
	switch {
	case r.Method == http.MethodGet && !id.named() && len(owner.types) == len(id.types):
		c.Verb, c.Name = fault.List, ""
	case r.Method == http.MethodGet:
		c.Verb = fault.Get
	case r.Method == http.MethodDelete && len(owner.types) == len(id.types):
		c.Verb = fault.Delete
	case r.Method == http.MethodPut && len(owner.types) == len(id.types) && !a.has(id):
		c.Verb = fault.Create
	default:
		c.Verb = fault.Update
	}
	if k.name == vmKind || c.Verb == fault.List {
		return c
	}
	c.Name = a.machineOf(owner, c.Name)
	return c
}

func (a *Azure) has(id resourceID) bool {
	a.Lock()
	defer a.Unlock()
	return a.st.resources.ByID[id.key()] != nil
}

// machineOf is the name of the machine or load balancer that a resource is a part of.
func (a *Azure) machineOf(id resourceID, otherwise string) string {
	a.Lock()
	defer a.Unlock()
	if r := a.st.resources.ByID[id.key()]; r != nil {
		if name := tag.Azure().Read(r.top().Tags).Machine; name != "" {
			return name
		}
	}
	return otherwise
}

// refuseFault answers a call that the fault plan refuses.
func (a *Azure) refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	if _, _, login := loginPath(r.URL.Path); login {
		writeLogin(w, r, loginFault(f))
		return
	}
	if isRetail(r) { // it knows no caller: all of them are too many
		refuseRetail(w, http.StatusTooManyRequests, "Too many requests")
		return
	}
	var refused refusal
	if err := a.faultError(r, f); !errors.As(err, &refused) {
		refused = refuse(http.StatusInternalServerError, "InternalServerError", "%v", err)
	}
	writeRefusal(w, refused)
}

func loginFault(f fault.Refusal) *loginError {
	switch f.Kind { //nolint:exhaustive // others do not refuse
	case fault.Throttle:
		return &loginError{status: http.StatusTooManyRequests, kind: "temporarily_unavailable", code: 90055, text: "The server is terminating the request because of too many requests.", retryAfter: int(f.RetryAfter.Seconds())}
	case fault.TokenExpiry:
		return &loginError{status: http.StatusUnauthorized, kind: "invalid_client", code: 7000222, text: "The provided client secret keys for the app are expired."}
	}
	return &loginError{status: http.StatusBadRequest, kind: "unauthorized_client", code: 7000112, text: "The application is disabled."}
}

func (a *Azure) faultError(r *http.Request, f fault.Refusal) error {
	id, _ := parseID(r.URL.EscapedPath())
	switch f.Kind { //nolint:exhaustive // others do not refuse
	case fault.Throttle:
		refused := refuse(http.StatusTooManyRequests, "TooManyRequests", "The request is being throttled as the limit has been reached for operation type. For more information, see aka.ms/resource-manager-throttling.")
		if id.provider != "" && r.Method == http.MethodGet {
			refused.code = "SubscriptionRequestsThrottled"
		}
		refused.retryAfter = int(f.RetryAfter.Seconds())
		return refused
	case fault.TokenExpiry:
		now := time.Now()
		return expiredToken(now.Add(-1), now)
	case fault.Quota:
		return a.overQuota(id)
	}
	verb := map[string]string{http.MethodGet: "read", http.MethodDelete: "delete", http.MethodPost: "action"}[r.Method]
	verb = cmp.Or(verb, "write")
	return unauthorized(a.actors[0], id.kind()+"/"+verb, id.String())
}

// overQuota is the refusal of a resource for which the quota is used up.
func (a *Azure) overQuota(id resourceID) error {
	switch strings.ToLower(id.kind()) {
	case "microsoft.compute/virtualmachines":
		return quotaExceeded(a.seed.Location, "Total Regional Cores", a.seed.VCPUs, a.seed.VCPUs, 2)
	case "microsoft.network/publicipaddresses":
		return bad("PublicIPCountLimitReached", "Cannot create more than %d public IP addresses for this subscription in this region.", publicLimit)
	case "microsoft.network/loadbalancers":
		return bad("LoadBalancerCountLimitReached", "Cannot create more than %d load balancers for this subscription in this region.", balancerLimit)
	}
	return conflicts("QuotaExceeded", "%s", fmt.Sprintf("The quota of %s in location %s is used up.", id.kind(), a.seed.Location))
}
