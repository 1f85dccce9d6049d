// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// route is one operation of the API.
type route struct {
	method, path string
	kind         string // of the entity
	body         string // its schema; empty: none is read
	permission   string // empty: every user may
	verb         fault.Verb
	uuid         bool // the first parameter is the UUID of an entity
	handle       func(*call) (any, error)
}

const listBody = "vm_list_metadata"

// match returns the parameters in a path of this route.
func (r route) match(method, path string) (params []string, fits bool) {
	want, have := strings.Split(r.path, "/"), strings.Split(path, "/")
	if method != r.method || len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		text, err := url.PathUnescape(have[i])
		switch {
		case err != nil, text == "", part != "*" && part != text:
			return nil, false
		case part == "*":
			params = append(params, text)
		}
	}
	return params, true
}

// status of a success: changes of intents are carried out later.
func (r route) status() int {
	if (r.verb == fault.Create || r.verb == fault.Update || r.verb == fault.Delete) && r.kind != kindCategory {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// viewed are the collections that can be read, with the permission for that.
func viewed() map[string][2]string {
	return map[string][2]string{
		kindVM: {"vms", "View_Virtual_Machine"}, kindImage: {"images", "View_Image"}, kindSubnet: {"subnets", "View_Subnet"},
		kindCluster: {"clusters", "View_Cluster"}, kindHost: {"hosts", "View_Host"}, kindProject: {"projects", "View_Project"},
		kindUser: {"users", "View_User"}, kindRole: {"roles", "View_Role"}, kindPolicy: {"access_control_policies", "View_Access_Control_Policy"},
		kindOperation: {"permissions", "View_Permission"},
	}
}

// routes are all operations. Those with fixed words come before those with parameters.
func routes() []route {
	out := []route{
		{method: "GET", path: "versions", verb: fault.Get, handle: getVersions},
		{method: "GET", path: "prism_central", verb: fault.Get, handle: getPrismCentral},
		{method: "GET", path: "users/me", kind: kindUser, verb: fault.Get, handle: getMe},
		{method: "GET", path: "users/info", kind: kindUser, verb: fault.Get, handle: getInfo},
		{method: "GET", path: "tasks/*", kind: "task", verb: fault.Get, uuid: true, handle: getTask},
		{method: "POST", path: "tasks/list", kind: "task", body: listBody, verb: fault.List, handle: listTasks},
		{method: "POST", path: "groups", kind: kindContainer, body: "groups_get_entities_request", verb: fault.List, handle: getGroups},
		{method: "POST", path: "vms", kind: kindVM, body: "vm_intent_input", permission: "Create_Virtual_Machine", verb: fault.Create, handle: createVM},
		{method: "PUT", path: "vms/*", kind: kindVM, body: "vm_intent_input", permission: "Update_Virtual_Machine", verb: fault.Update, uuid: true, handle: updateVM},
		{method: "DELETE", path: "vms/*", kind: kindVM, permission: "Delete_Virtual_Machine", verb: fault.Delete, uuid: true, handle: deleteVM},
		{method: "POST", path: "vms/*/clone", kind: kindVM, body: "vm_clone_input", permission: "Create_Virtual_Machine", verb: fault.Create, uuid: true, handle: cloneVM},
		{method: "POST", path: "images", kind: kindImage, body: "image_intent_input", permission: "Create_Image", verb: fault.Create, handle: createImage},
		{method: "DELETE", path: "images/*", kind: kindImage, permission: "Delete_Image", verb: fault.Delete, uuid: true, handle: deleteImage},
	}
	for kind, as := range viewed() {
		out = append(out,
			route{method: "POST", path: as[0] + "/list", kind: kind, body: listBody, permission: as[1], verb: fault.List, handle: listEntities},
			route{method: "GET", path: as[0] + "/*", kind: kind, permission: as[1], verb: fault.Get, uuid: true, handle: getEntity})
	}
	return append(out, categoryRoutes()...)
}

func categoryRoutes() []route {
	return []route{
		{method: "POST", path: "category/query", kind: kindCategory, body: "category_query_input", permission: "View_Category_Mapping", verb: fault.List, handle: queryCategories},
		{method: "POST", path: "categories/list", kind: kindCategory, body: "category_list_metadata", permission: "View_Name_Category", verb: fault.List, handle: listCategories},
		{method: "POST", path: "categories/*/list", kind: kindCategory, body: "category_list_metadata", permission: "View_Value_Category", verb: fault.List, handle: listValues},
		{method: "PUT", path: "categories/*", kind: kindCategory, body: "category_key", permission: "Create_Or_Update_Name_Category", verb: fault.Create, handle: putCategory},
		{method: "GET", path: "categories/*", kind: kindCategory, permission: "View_Name_Category", verb: fault.Get, handle: getCategory},
		{method: "DELETE", path: "categories/*", kind: kindCategory, permission: "Delete_Name_Category", verb: fault.Delete, handle: deleteCategory},
		{method: "PUT", path: "categories/*/*", kind: kindCategory, body: "category_value", permission: "Create_Or_Update_Value_Category", verb: fault.Create, handle: putValue},
		{method: "GET", path: "categories/*/*", kind: kindCategory, permission: "View_Value_Category", verb: fault.Get, handle: getValue},
		{method: "DELETE", path: "categories/*/*", kind: kindCategory, permission: "Delete_Value_Category", verb: fault.Delete, handle: deleteValue},
	}
}

// resource is what fault plans call the kind of a route.
func (r route) resource() fault.Resource {
	return map[string]fault.Resource{
		kindVM: fault.Machine, kindImage: fault.Image, kindSubnet: fault.Network, kindContainer: fault.Storage, kindCategory: fault.Category,
	}[r.kind]
}
