// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

func TestCallersLogIn(t *testing.T) {
	f := start(t)
	basic := func(user, password string) map[string]string {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return map[string]string{"Authorization": r.Header.Get("Authorization")}
	}
	for name, c := range map[string]struct {
		header map[string]string
		want   string
	}{
		"no credentials":  {nil, `401 AUTHENTICATION_REQUIRED: Authentication required. "Basic realm=\"Intent Gateway Login Required\""`},
		"wrong password":  {basic(f.user, "x"), "401 <html>"},
		"unknown user":    {basic("absent", f.password), "401 <html>"},
		"unknown session": {map[string]string{"Cookie": "NTNX_IGW_SESSION=x"}, "401 <html>"},
		"unknown key":     {map[string]string{"X-ntnx-api-key": "x"}, "401 <html>"},
		"password":        {basic(f.user, f.password), "200 "},
		"key":             {map[string]string{"X-ntnx-api-key": f.key}, "200 "},
	} {
		a := f.request(t, http.MethodGet, "users/me", nil, c.header)
		if got := a.reason(); !strings.HasPrefix(got, c.want) || a.status == 401 && a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if me := f.do(t, http.MethodGet, "users/me", nil); text(me, "status.name") != "butler" || text(me, "metadata.kind") != "user" {
		t.Errorf("me: %v", me)
	}
}

func TestSessionsAreUsedAndEnd(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.SessionLimit.Duration = 400 * time.Millisecond })
	a := f.call(t, http.MethodGet, "users/me", nil)
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	session := map[string]string{"Cookie": cookie}
	if got := f.request(t, http.MethodPost, "vms/list", object{}, session); got.status != http.StatusOK || got.header.Get("Set-Cookie") != "" {
		t.Errorf("with the session %q: %s", cookie, got.reason())
	}
	eventually(t, "the session ends", func() bool {
		return f.request(t, http.MethodPost, "vms/list", object{}, session).status == http.StatusUnauthorized
	})
}

// needed are the permissions of calls, with what is done with them.
func needed() map[string]func(*testing.T, *fixture, object) answer {
	return map[string]func(*testing.T, *fixture, object) answer{
		"Create_Virtual_Machine": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "vms", machine("b"))
		},
		"View_Virtual_Machine": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "vms/list", object{})
		},
		"Delete_Virtual_Machine": func(t *testing.T, f *fixture, vm object) answer {
			return f.call(t, http.MethodDelete, "vms/"+text(vm, "metadata.uuid"), nil)
		},
		"Update_Virtual_Machine": func(t *testing.T, f *fixture, vm object) answer {
			return f.call(t, http.MethodPut, "vms/"+text(vm, "metadata.uuid"), object{"metadata": vm["metadata"], "spec": vm["spec"]})
		},
		"Update_Virtual_Machine_Project": func(t *testing.T, f *fixture, vm object) answer {
			return f.call(t, http.MethodPut, "vms/"+text(vm, "metadata.uuid"), object{"metadata": with(vm, "metadata.project_reference", f.project(t))["metadata"], "spec": vm["spec"]})
		},
		"Create_Category_Mapping": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "vms", with(machine("b"), "metadata.categories", object{"AppType": "Default"}))
		},
		"Update_Category_Mapping": func(t *testing.T, f *fixture, vm object) answer {
			return f.call(t, http.MethodPut, "vms/"+text(vm, "metadata.uuid"), object{"metadata": with(vm, "metadata.categories", object{"AppType": "Default"})["metadata"], "spec": vm["spec"]})
		},
		"Create_Or_Update_Name_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPut, "categories/k", object{"name": "k"})
		},
		"Create_Or_Update_Value_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPut, "categories/AppType/v", object{"value": "v"})
		},
		"Delete_Name_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodDelete, "categories/k", nil)
		},
		"Delete_Value_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodDelete, "categories/AppType/v", nil)
		},
		"View_Name_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodGet, "categories/AppType", nil)
		},
		"View_Value_Category": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "categories/AppType/list", object{})
		},
		"View_Category_Mapping": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "category/query", object{"category_filter": object{"params": object{"AppType": []any{"Default"}}}})
		},
		"View_Image": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodGet, "images/"+imageID, nil)
		},
		"View_Subnet": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodGet, "subnets/"+subnetID, nil)
		},
		"View_Cluster": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "clusters/list", object{"kind": "cluster"})
		},
		"View_Host": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "hosts/list", object{"kind": "host"})
		},
		"View_Role": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "roles/list", object{})
		},
		"View_Access_Control_Policy": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "access_control_policies/list", object{})
		},
		"View_Project": func(t *testing.T, f *fixture, _ object) answer {
			return f.call(t, http.MethodPost, "projects/list", object{})
		},
	}
}

// project is a reference to the project of the fixture, which the administrator sees.
func (f *fixture) project(t *testing.T) object {
	t.Helper()
	found, err := nutanix.List(t.Context(), f.api.Admin(), "projects")
	must(t, err)
	return object{"kind": "project", "uuid": found[0].UUID}
}

// TestTheRoleOfTheUserIsEnforced: each permission of the documented role is needed for
// something, and without it the call is refused.
func TestTheRoleOfTheUserIsEnforced(t *testing.T) {
	var role struct {
		Permissions []string `json:"permissions"`
	}
	must(t, json.Unmarshal([]byte(read(t, "role.json")), &role))
	// The API has no call of its own for these: they belong to the same calls.
	unused := []string{"Delete_Category_Mapping", "View_Storage_Container"}
	dir := t.TempDir()
	f := startIn(t, dir)
	vm := f.create(t, with(machine("a"), "spec.resources.power_state", "OFF"))
	f.stop(t)
	// The driver does not need the first two.
	all := append([]string{"Update_Virtual_Machine_Project", "Update_Category_Mapping"}, role.Permissions...)
	for _, permission := range all {
		if slices.Contains(unused, permission) {
			continue
		}
		t.Run(permission, func(t *testing.T) {
			try := needed()[permission]
			if try == nil {
				t.Fatal("nothing needs it")
			}
			without := slices.DeleteFunc(slices.Clone(all), func(one string) bool { return one == permission })
			f := startIn(t, dir, func(s *nutanix.Seed) { s.Permissions = without })
			defer f.stop(t)
			want := `403 ACCESS_DENIED: No permission to access the resource. {"permission":"` + permission + `"}`
			if got := try(t, f, vm).reason(); got != want {
				t.Errorf("without it: %s", got)
			}
		})
	}
}

// TestUsersSeeTheirPermissions: users/info has the UUIDs of the role's permissions.
func TestUsersSeeTheirPermissions(t *testing.T) {
	f := start(t, func(s *nutanix.Seed) { s.Permissions = []string{"View_Virtual_Machine", "View_Permission"} })
	info := f.do(t, http.MethodGet, "users/info", nil)
	list := at(info, "access_control_policy_list.0.role.permission_uuid_list").([]any)
	var names []string
	for _, id := range list {
		names = append(names, text(f.do(t, http.MethodGet, "permissions/"+id.(string), nil), "status.name"))
	}
	if !slices.Equal(names, []string{"View_Virtual_Machine", "View_Permission"}) || text(info, "user_details.username") != "butler" {
		t.Errorf("permissions: %v of %v", names, info)
	}
}

// TestTasksBelongToTheirUser: another one needs a permission.
func TestTasksBelongToTheirUser(t *testing.T) {
	f := start(t)
	admin, err := nutanix.NewClient(f.api.Admin())
	must(t, err)
	defer admin.Close()
	var accepted object
	if _, err := admin.Call(t.Context(), http.MethodPost, "vms", machine("a"), &accepted); err != nil {
		t.Fatal(err)
	}
	id := text(accepted, "status.execution_context.task_uuid")
	if got := f.call(t, http.MethodGet, "tasks/"+id, nil).reason(); !strings.HasPrefix(got, "403 ACCESS_DENIED") {
		t.Errorf("the task of another user: %s", got)
	}
	if list := f.do(t, http.MethodPost, "tasks/list", object{"kind": "task"}); len(list["entities"].([]any)) != 0 {
		t.Errorf("tasks of another user: %v", list)
	}
}
