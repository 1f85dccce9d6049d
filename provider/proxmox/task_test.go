// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/luthermonson/go-proxmox"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// logged is a task of a node with its log.
type logged struct {
	task
	log string
}

// tasksServer answers as a node that has tasks. One without a log has lost it.
func tasksServer(t *testing.T, all []logged) *platform {
	t.Helper()
	return serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tasks := []map[string]any{}
		for _, l := range all {
			tasks = append(tasks, map[string]any{
				"upid": l.UPID, "node": "pve1", "type": taskClone, "id": "9000", "user": l.User, "tokenid": l.Token, "starttime": l.Start, "endtime": l.End, "status": l.Status,
			})
			if path.Base(path.Dir(r.URL.Path)) != l.UPID {
				continue
			}
			if l.log == "" {
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(map[string]any{"message": "Parameter verification failed.", "errors": map[string]string{"upid": "no such task"}})
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": []line{{l.log}}})
			return
		}
		if strings.HasSuffix(r.URL.Path, "/tasks") {
			_ = json.NewEncoder(w).Encode(map[string]any{"data": tasks})
		}
	})
}

// serverOf is a platform that a function answers for.
func serverOf(t *testing.T, answer http.HandlerFunc) *platform {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	plain := &http.Client{Transport: answers{server.Client().Transport}}
	api := &client{Client: proxmox.NewClient(server.URL, proxmox.WithHTTPClient(plain), proxmox.WithLogger(silent{})), user: "butler@pve!new"}
	return newPlatform(api, v1alpha1.ProxmoxSpec{}, "")
}

// TestAStepIsFollowedOnceItsTaskHasEnded, and is reported otherwise, with why it failed.
func TestAStepIsFollowedOnceItsTaskHasEnded(t *testing.T) {
	const doing = "VM 2100 on pve1: it is being configured"
	for what, c := range map[string]struct {
		upid, answer string
		before       []task
		ended        bool
		message      string
	}{
		"done when answered":          {"", "", nil, true, ""},
		"ended":                       {"u", `{"status":"stopped","exitstatus":"OK"}`, nil, true, doing},
		"ended with warnings":         {"u", `{"status":"stopped","exitstatus":"WARNINGS: 1"}`, nil, true, doing},
		"it runs":                     {"u", `{"status":"running"}`, nil, false, doing},
		"it cannot be read":           {"u", "", nil, false, doing},
		"it has ended in some way":    {"u", `{"status":"stopped"}`, nil, false, doing},
		"it failed":                   {"u", `{"status":"stopped","exitstatus":"no lock"}`, nil, false, doing + "; the last try failed: no lock"},
		"it runs, another has failed": {"u", `{"status":"running"}`, []task{{Type: taskConfig, Status: "no lock", End: 1}}, false, doing + "; the last try failed: no lock"},
		"it runs, another kind has":   {"u", `{"status":"running"}`, []task{{Type: taskStart, Status: "no lock", End: 1}}, false, doing},
	} {
		p := statusServer(t, "/nodes/pve1/tasks/"+c.upid+"/status", c.answer)
		b := &build{machines: machines{p}, vm: &vm{resource: resource{VMID: 2100, Node: "pve1"}, tasks: c.before}}
		ended, err := b.take(t.Context(), taskConfig, "it is being configured", func(into *string) error { *into = c.upid; return nil })
		if err != nil || ended != c.ended || b.is.Message != c.message {
			t.Errorf("%s: %t, %q: %v", what, ended, b.is.Message, err)
		}
	}
}

// statusServer answers one path; anything else is an error.
func statusServer(t *testing.T, at, answer string) *platform {
	t.Helper()
	return serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != at || answer == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":` + answer + `}`))
	})
}

// TestTheTaskOfAVM is the one that runs, else the newest that may have created it.
func TestTheTaskOfAVM(t *testing.T) {
	const to, failed = "creating a clone of VM 9000 with ID 2100", "copy failed"
	one := func(upid string, start number, status, log string) logged {
		l := logged{task{UPID: upid, User: "butler@pve", Token: "new", Start: start, End: start + 1, Status: status}, log}
		if status == "RUNNING" {
			l.End = 0
		}
		return l
	}
	of := func(user, token string, l logged) logged { l.User, l.Token = user, token; return l }
	for what, c := range map[string]struct {
		all              []logged
		cloning, pending string
	}{
		"another one lost the race for the lock":     {[]logged{one("a", 1, "RUNNING", to), one("b", 2, "can't lock file '/var/lock/qemu-server/lock-2100.conf' - got timeout", to)}, "a", "a"},
		"another one came too late":                  {[]logged{one("a", 1, "OK", to), one("b", 2, "unable to create VM 2100: config file already exists", to)}, "a", "a"},
		"another one lost the race between nodes":    {[]logged{one("a", 1, "OK", to), one("b", 2, "close (rename) atomic file '/etc/pve/2100.conf' failed: File exists", to)}, "a", "a"},
		"one runs, and a newer one has failed":       {[]logged{one("a", 1, "RUNNING", to), one("b", 2, failed, to)}, "a", "a"},
		"both in one second":                         {[]logged{one("b", 1, failed, to), one("a", 1, "OK", to)}, "a", "a"},
		"the VM before was removed":                  {[]logged{one("a", 1, "OK", to), one("b", 2, failed, to)}, "b", "b"},
		"one runs that does not say for which VM":    {[]logged{one("a", 1, "RUNNING", "create full clone of drive scsi0 (rbd:base-9000-disk-0)")}, "", "a"},
		"the same, and an old one has failed":        {[]logged{one("b", 1, failed, to), one("a", 2, "RUNNING", "no content")}, "b", "a"},
		"one of a token that was replaced runs":      {[]logged{of("butler@pve", "old", one("a", 1, "RUNNING", to))}, "a", "a"},
		"one of a token that was replaced failed":    {[]logged{of("butler@pve", "old", one("a", 1, failed, to))}, "", ""},
		"one of another user":                        {[]logged{of("root@pam", "", one("a", 1, "RUNNING", to))}, "", ""},
		"the log of an old one is gone":              {[]logged{one("a", 1, "OK", to), one("b", 2, "OK", "")}, "a", "a"},
		"the storage was locked after a first disk":  {[]logged{one("a", 1, "can't lock file '/var/lock/pve-manager/pve-storage-nfs' - got timeout", to)}, "a", "a"},
		"one that has ended without saying anything": {[]logged{one("a", 1, "OK", "no content")}, "", ""},
	} {
		p := tasksServer(t, c.all)
		got, _, err := p.cloning(t.Context(), "pve1", 2100)
		if err != nil || got.UPID != c.cloning {
			t.Errorf("%s: cloning is %q, want %q: %v", what, got.UPID, c.cloning, err)
		}
		got, _, err = p.pending(t.Context(), "pve1", 2100)
		if err != nil || got.UPID != c.pending {
			t.Errorf("%s: pending is %q, want %q: %v", what, got.UPID, c.pending, err)
		}
	}
}
