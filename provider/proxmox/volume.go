// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// volume is one of a storage.
type volume struct {
	VolID string `json:"volid"`
	VMID  number `json:"vmid"`
	Size  number `json:"size"`
	Time  number `json:"ctime"`
	node  string
	store string
	// shared says that other nodes see it too.
	shared bool
}

// readVolumes lists the volumes of a type of content on the storages of all nodes that are
// online, each once. A storage that cannot be read does not hold up others: it is returned.
func (m machines) readVolumes(ctx context.Context, c *cluster, content string) (all []volume, unread []string, err error) {
	seen, failed := map[string]bool{}, map[string]string{}
	for _, r := range c.storages {
		key := r.Node + "/" + r.Storage
		if r.Shared != 0 {
			key = r.Storage
		}
		if seen[key] || !r.holds(content) || !c.online(r.Node) {
			continue
		}
		some, err := m.readStorage(ctx, r, content)
		if _, refused := errors.AsType[*answerError](err); refused && provider.ReasonOf(apiError("", err)) != provider.ReasonCredentialsRefused {
			failed[key] = r.Storage + " on " + r.Node
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		seen[key] = true
		delete(failed, key) // another node has read it
		all = append(all, some...)
	}
	return all, slices.Sorted(maps.Values(failed)), nil
}

// errInactive is the refusal of a storage that its node cannot reach.
var errInactive = &answerError{http.StatusInternalServerError, "the storage is not online"}

func (m machines) readStorage(ctx context.Context, r resource, content string) (all []volume, err error) {
	if !r.active() {
		return nil, errInactive
	}
	err = m.get(ctx, "/nodes/"+r.Node+"/storage/"+r.Storage+"/content", url.Values{"content": {content}}, &all)
	for i := range all {
		all[i].node, all[i].store, all[i].shared = r.Node, r.Storage, r.Shared != 0
	}
	return all, err
}

// active reports whether the node of a storage has reached it lately.
func (r resource) active() bool { return r.Status != "unknown" }

// unreadText says what is not known as storages could not be read.
func unreadText(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	return "the storage " + strings.Join(unread, ", ") + " cannot be read: user data or disks of a failed clone may be left there"
}

func (m machines) deleteVolume(ctx context.Context, v volume) error {
	var upid string
	err := m.Client.Delete(ctx, "/nodes/"+v.node+"/storage/"+v.store+"/content/"+url.PathEscape(v.VolID), &upid)
	if gone(err) {
		return nil
	}
	return err
}
