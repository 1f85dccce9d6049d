// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/provider/tag"
)

// requestSet is what the tags or the description in a request say.
func requestSet(body []byte) tag.Set {
	params, err := readForm(body)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		params, err = readJSON(body)
	}
	if err != nil {
		return tag.Set{}
	}
	return setOf(params)
}

// setOf is what the tags of a configuration say, or its description.
func setOf(config map[string]string) tag.Set {
	words := map[string]string{}
	for _, word := range splitList(config["tags"]) {
		words[word] = ""
	}
	if set := tag.Proxmox().Read(words); set.OwnerID != "" {
		return set
	}
	for line := range strings.SplitSeq(config["description"], "\n") {
		if set := (tag.Style{}).ReadText(line); set.OwnerID != "" {
			return set
		}
	}
	return tag.Set{}
}

var anyUUID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// ownerInName is the owner that the name of a file has.
func ownerInName(name string) string { return anyUUID.FindString(strings.ToLower(name)) }

// content is what a request writes to the platform. Of an image with a machine
// configuration the head is left: on this platform such data may travel there.
func content(body []byte) []byte {
	if head, _, isForm := bytes.Cut(body, []byte("CD001")); isForm && audit.Configures(body) {
		return head
	}
	return body
}

// classify says what a request is in the words of a fault plan. Requests for tickets are
// reads.
func (p *PVE) classify(r *http.Request) fault.Call {
	t, params := p.find(r)
	if t == nil {
		return fault.Call{Verb: fault.Get}
	}
	c := fault.Call{Verb: t.verb, Resource: t.resource}
	if t.resource != fault.Machine {
		return c
	}
	if t.verb == fault.Create {
		given, err := readForm(front.Body(r))
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			given, err = readJSON(front.Body(r))
		}
		if err == nil {
			c.Name = given["name"]
		}
		if name := r.URL.Query().Get("name"); name != "" {
			c.Name = name
		}
		return c
	}
	p.Lock()
	defer p.Unlock()
	if g := p.st.guests.ByID[params["vmid"]]; g != nil {
		c.Name = g.name()
	}
	return c
}

// refuseFault answers a call that the fault plan refuses. The platform has no limit for
// calls: one with too many does not get through to the daemon in time. A caller without
// privileges is refused where the platform checks one, and sees nothing elsewhere.
func (p *PVE) refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	switch f.Kind {
	case fault.Throttle:
		writeRefusal(w, server(596, "Connection timed out"))
	case fault.TokenExpiry:
		writeRefusal(w, unauthorized("Authentication failed!"))
	case fault.Quota:
		writeRefusal(w, fail("unable to create output file '/var/log/pve/tasks/A/UPID' - No space left on device"))
	default:
		p.serve(w, r, &call{PVE: p, st: p.st, now: time.Now(), powerless: true})
	}
}
