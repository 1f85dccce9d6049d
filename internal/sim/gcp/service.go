// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// maxTested is how many permissions can be tested with one call.
const maxTested = 100

var (
	tokenPath       = regexp.MustCompile(`^(?:token|oauth2/v4/token|o/oauth2/token)$`)
	accountPath     = regexp.MustCompile(`^v1/projects/-/serviceAccounts/([^/:]+):generateAccessToken$`)
	projectPath     = regexp.MustCompile(`^v[13]/projects/([^/:]+)$`)
	testPath        = regexp.MustCompile(`^v[13]/projects/([^/:]+):testIamPermissions$`)
	permissionWords = regexp.MustCompile(`^[a-z][A-Za-z0-9]*\.[A-Za-z0-9]+\.[A-Za-z0-9]+$`)
)

// otherService answers a call of a service beside Compute Engine.
func (c *call) otherService(r *http.Request) (any, error) {
	switch {
	case r.Method == http.MethodPost && tokenPath.MatchString(c.service):
		return grantToken(c, r)
	case r.Method == http.MethodPost && c.service == "v1/token":
		return exchangeToken(c, r)
	}
	who, err := c.authenticate(r)
	c.who = who
	account, project, tested := accountPath.FindStringSubmatch(c.service), projectPath.FindStringSubmatch(c.service), testPath.FindStringSubmatch(c.service)
	priced := skuPath.FindStringSubmatch(c.service)
	switch {
	case r.Method == http.MethodGet && priced != nil:
		if err != nil {
			return nil, err
		}
		return c.listSKUs(priced[1])
	case r.Method == http.MethodPost && account != nil:
		if err != nil {
			return nil, err
		}
		return impersonate(c, account[1])
	case r.Method == http.MethodGet && project != nil:
		if err != nil {
			return nil, err
		}
		return c.getProject(project[1])
	case r.Method == http.MethodPost && tested != nil:
		if err != nil {
			return nil, err
		}
		return c.testPermissions(tested[1])
	}
	return nil, refusal{status: http.StatusNotFound, reason: "notFound", message: "The requested URL " + r.URL.Path + " was not found on this server.", rpc: "NOT_FOUND"}
}

// getProject answers the resource manager, in its first or its third version.
func (c *call) getProject(id string) (any, error) {
	if id != c.seed.Project && id != c.number || !c.who.may("resourcemanager.projects.get") {
		return nil, denied("The caller does not have permission")
	}
	if strings.HasPrefix(c.service, "v3/") {
		return map[string]any{
			"name": "projects/" + c.number, "projectId": c.seed.Project, "displayName": c.seed.Project, "state": "ACTIVE",
			"createTime": created().Format(time.RFC3339), "etag": `W/"` + fingerprint(c.number) + `"`,
		}, nil
	}
	return map[string]any{
		"projectNumber": c.number, "projectId": c.seed.Project, "name": c.seed.Project, "lifecycleState": "ACTIVE", "createTime": created().Format(time.RFC3339),
	}, nil
}

// testPermissions returns which of some permissions the caller has.
func (c *call) testPermissions(project string) (any, error) {
	if project != c.seed.Project && project != c.number {
		return nil, denied("The caller does not have permission")
	}
	var body struct {
		Permissions []string `json:"permissions"`
	}
	if err := json.Unmarshal(c.raw, &body); err != nil {
		return nil, badPayload("", "Invalid JSON payload received.")
	}
	if len(body.Permissions) > maxTested {
		return nil, badPayload("permissions", fmt.Sprintf("The number of permissions must be at most %d.", maxTested))
	}
	var held []string
	for _, p := range body.Permissions {
		if !permissionWords.MatchString(p) {
			return nil, badPayload("permissions", "Permission "+p+" is not valid for this resource.")
		}
		if c.who.may(p) {
			held = append(held, p)
		}
	}
	if len(held) == 0 {
		return map[string]any{}, nil
	}
	return map[string]any{"permissions": held}, nil
}
