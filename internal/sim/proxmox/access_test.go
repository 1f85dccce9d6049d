// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func TestUsersLogInForATicketThatEnds(t *testing.T) {
	f := start(t, proxmox.Seed{Tickets: 3 * time.Second})
	raw, err := os.ReadFile(strings.Replace(f.api.Admin(), "admin", "user", 1))
	must(t, err)
	var user struct{ User, Password string }
	must(t, json.Unmarshal(raw, &user))
	login := func(password string) answer {
		r := f.request(t, "POST", "/access/ticket", url.Values{"username": {user.User}, "password": {password}}.Encode())
		r.Header.Del("Authorization")
		return f.send(t, r)
	}
	if a := login("wrong"); a.code != 401 || a.reason != "authentication failure" {
		t.Errorf("a wrong password: %d %s", a.code, a.reason)
	}
	session := login(user.Password).object(t)
	with := func(method, path, body, csrf string) answer {
		r := f.request(t, method, path, body)
		r.Header.Del("Authorization")
		r.Header.Set("Cookie", "PVEAuthCookie="+url.QueryEscape(session["ticket"].(string)))
		r.Header.Set("CSRFPreventionToken", csrf)
		return f.send(t, r)
	}
	token := session["CSRFPreventionToken"].(string)
	if a := with("GET", "/version", "", ""); a.code != 200 {
		t.Errorf("a read: %d %s", a.code, a.reason)
	}
	if a := with("POST", template+"/clone", "newid=101", ""); a.code != 401 || a.reason != "Permission denied - invalid csrf token" {
		t.Errorf("a write without the token: %d %s", a.code, a.reason)
	}
	if a := with("POST", template+"/clone", "newid=101", token); a.code != 200 {
		t.Errorf("a write: %d %s", a.code, a.reason)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		a := with("GET", "/version", "", "")
		if a.code == 401 && a.reason == "Authentication failed!" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the ticket has not ended: %d %s", a.code, a.reason)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func TestCallersWithoutValidCredentials(t *testing.T) {
	f := start(t, proxmox.Seed{})
	for header, want := range map[string]string{
		"": "No ticket", "PVEAPIToken=butler@pve!butler=wrong": "Authentication failed!", "PVEAPIToken=absent@pve!a=b": "Authentication failed!",
		"PVEAPIToken=butler@pve!butler": "Authentication failed!", "PVEAuthCookie=PVE:root@pam:00000000::x": "Authentication failed!",
	} {
		r := f.request(t, "GET", "/version", "")
		r.Header.Set("Authorization", header)
		if a := f.send(t, r); a.code != 401 || a.reason != want {
			t.Errorf("%s: %d %s", header, a.code, a.reason)
		}
	}
}

// without is of the guide without one privilege.
func without(t *testing.T, privilege string) proxmox.Seed {
	t.Helper()
	raw, err := os.ReadFile("role.sh")
	must(t, err)
	text := regexp.MustCompile(`\b`+regexp.QuoteMeta(privilege)+`([ "])`).ReplaceAllString(string(raw), "$1")
	if text == string(raw) {
		t.Fatalf("the role does not have %s", privilege)
	}
	return proxmox.Seed{Commands: text}
}

// TestEachPrivilegeOfTheRoleIsNeeded takes one away, and names the call that is then
// refused.
func TestEachPrivilegeOfTheRoleIsNeeded(t *testing.T) {
	for privilege, c := range map[string]struct{ method, path, param, want string }{
		"VM.Clone":                   {"POST", template + "/clone", "newid=102", "Permission check failed (/vms/9000, VM.Clone)"},
		"VM.Allocate":                {"POST", template + "/clone", "newid=102", "Permission check failed"},
		"VM.Config.CPU":              {"PUT", vm + "/config", "cores=2", "Permission check failed (/vms/101, VM.Config.CPU)"},
		"VM.Config.Memory":           {"PUT", vm + "/config", "memory=2048", "Permission check failed (/vms/101, VM.Config.Memory)"},
		"VM.Config.Network":          {"PUT", vm + "/config", "net0=virtio,bridge=vmbr0", "Permission check failed (/vms/101, VM.Config.Network)"},
		"VM.Config.HWType":           {"PUT", vm + "/config", "serial1=socket", "Permission check failed (/vms/101, VM.Config.HWType)"},
		"VM.Config.Options":          {"PUT", vm + "/config", "tags=a", "Permission check failed (/vms/101, VM.Config.Options)"},
		"VM.Config.Disk":             {"PUT", vm + "/config", "scsi1=local-lvm:1", "Permission check failed (/vms/101, VM.Config.Disk)"},
		"VM.Config.CDROM":            {"PUT", vm + "/config", "ide2=none,media=cdrom", "Permission check failed (/vms/101, VM.Config.CDROM)"},
		"VM.Config.Cloudinit":        {"PUT", vm + "/config", "ide2=local-lvm:cloudinit", "Permission check failed (/vms/101, VM.Config.Cloudinit)"},
		"VM.PowerMgmt":               {"POST", vm + "/status/start", "", "Permission check failed (/vms/101, VM.PowerMgmt)"},
		"VM.Audit":                   {"GET", vm + "/config", "", "Permission check failed (/vms/101, VM.Audit)"},
		"VM.GuestAgent.Audit":        {"GET", vm + "/agent/network-get-interfaces", "", "Permission check failed (/vms/101, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted)"},
		"Datastore.AllocateSpace":    {"PUT", vm + "/config", "scsi1=local-lvm:1", "Permission check failed (/storage/local-lvm, Datastore.AllocateSpace)"},
		"Datastore.AllocateTemplate": {"POST", "/nodes/pve1/storage/local/upload", "content=iso", "Permission check failed (/storage/local, Datastore.AllocateTemplate)"},
		"Datastore.Allocate":         {"DELETE", "/nodes/pve1/storage/local/content/local:iso/a.iso", "", "Permission check failed (/storage/local, Datastore.Allocate)"},
		"SDN.Use":                    {"PUT", vm + "/config", "net0=virtio,bridge=vmbr0,tag=7", "Permission check failed (/sdn/zones/localnetwork/vmbr0/7, SDN.Use)"},
		"Sys.Audit":                  {"GET", "/nodes/pve1/status", "", "Permission check failed (/nodes/pve1, Sys.Audit)"},
	} {
		t.Run(privilege, func(t *testing.T) {
			f := start(t, without(t, privilege))
			must(t, f.admin.Do(t.Context(), "POST", template+"/clone", "newid", "101", "name", "a"))
			if a := f.call(t, c.method, c.path, words(c.param)...); a.code != 403 || a.reason != c.want {
				t.Errorf("%d %s, want %s", a.code, a.reason, c.want)
			}
		})
	}
}

// TestATokenHasWhatBothItAndItsUserMayDo: privileges of a token are separated by default.
func TestATokenHasWhatBothItAndItsUserMayDo(t *testing.T) {
	const role = "pveum role add Small --privs VM.Audit\n"
	for name, c := range map[string]struct {
		commands string
		vms      int
	}{
		"both":             {role + "pveum acl modify / --users butler@pve --roles Small\npveum acl modify / --tokens 'butler@pve!butler' --roles Small\n", 3},
		"the token alone":  {role + "pveum acl modify / --tokens 'butler@pve!butler' --roles Small\n", 0},
		"the user alone":   {role + "pveum acl modify / --users butler@pve --roles Small\n", 0},
		"another path":     {role + "pveum acl modify /vms/100 --users butler@pve --roles Small\npveum acl modify / --tokens 'butler@pve!butler' --roles Small\n", 0},
		"taken away below": {role + "pveum acl modify / --users butler@pve --roles Small\npveum acl modify / --tokens 'butler@pve!butler' --roles Small\npveum acl modify /vms --tokens 'butler@pve!butler' --roles NoAccess\n", 0},
	} {
		f := start(t, proxmox.Seed{Commands: c.commands})
		if got := f.call(t, "GET", "/cluster/resources", "type=vm").list(t); len(got) != c.vms {
			t.Errorf("%s: the list has %v", name, got)
		}
		permissions := f.call(t, "GET", "/access/permissions", "path=/vms/9000").object(t)
		if (len(permissions) > 0) != (c.vms > 0) {
			t.Errorf("%s: the permissions are %v", name, permissions)
		}
	}
}
