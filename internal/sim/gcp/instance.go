// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"maps"
	"net/netip"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// The states of an instance.
const (
	provisioning = "PROVISIONING"
	staging      = "STAGING"
	running      = "RUNNING"
	stopping     = "STOPPING"
	terminated   = "TERMINATED"
)

func (r *resource) state() string { return r.Object.str("status") }

// typeOf is the machine type of an instance.
func (g *GCP) typeOf(i *resource) machineType {
	t, err := g.typeNamed("", locationOf(i.Path), nameOf(i.Object.str("machineType")))
	if err != nil {
		return machineType{}
	}
	return t
}

// lag is how long a new instance is not listed.
func (g *GCP) lag() time.Duration { return max(g.Options.Create/2, g.seed.Lag.Duration) }

// showInstance adds the fingerprints of an instance.
func showInstance(_ *call, r *resource, o object) {
	o["labelFingerprint"] = labelFingerprint(r.Object)
	metadata := maps.Clone(o.sub("metadata"))
	metadata["kind"], metadata["fingerprint"] = "compute#metadata", metadataFingerprint(r.Object)
	o["metadata"] = metadata
	tags := maps.Clone(o.sub("tags"))
	tags["fingerprint"] = tagsFingerprint(r.Object)
	o["tags"] = tags
	o["fingerprint"] = fingerprint([]any{o["labelFingerprint"], metadata["fingerprint"], tags["fingerprint"], o["machineType"], o["deletionProtection"]})
}

func metadataFingerprint(o object) string { return fingerprint(o.sub("metadata")["items"]) }

func tagsFingerprint(o object) string { return fingerprint(o.sub("tags")["items"]) }

// address is the private address of an instance.
func (r *resource) address() netip.Addr {
	address, err := netip.ParseAddr(r.Object.subs("networkInterfaces")[0].str("networkIP"))
	if err != nil {
		return netip.Addr{}
	}
	return address
}

// metadata is an item of an instance's metadata.
func (r *resource) metadata(key string) string {
	for _, item := range r.Object.sub("metadata").subs("items") {
		if item.str("key") == key {
			return item.str("value")
		}
	}
	return ""
}

func instanceMethods() map[string]method {
	k := kindOf("instances")
	of := func(permission string, check func(*call, *resource) error, apply func(*GCP, *resource, object) error) method {
		return change{k, fault.Update, permission, check, apply}.method()
	}
	return map[string]method{
		"instances.setMetadata":           of("setMetadata", checkSetMetadata, applySetMetadata),
		"instances.setTags":               of("setTags", checkSetTags, applySetTags),
		"instances.setDeletionProtection": of("setDeletionProtection", nil, applyProtection),
		"instances.setDiskAutoDelete":     of("setDiskAutoDelete", checkDeviceName, applyAutoDelete),
		"instances.start":                 of("start", nil, applyStart),
		"instances.stop":                  of("stop", checkStop, applyStop),
		"instances.reset":                 of("reset", checkReset, applyReset),
	}
}

func checkSetMetadata(c *call, r *resource) error {
	if c.body.str("fingerprint") != metadataFingerprint(r.Object) {
		return conditionNotMet("Supplied fingerprint does not match current metadata fingerprint.")
	}
	return checkMetadata("metadata", c.body)
}

func applySetMetadata(_ *GCP, r *resource, body object) error {
	metadata := object{}
	if items := body.subs("items"); len(items) > 0 {
		metadata["items"] = anys(items)
	}
	r.Object["metadata"] = metadata
	return nil
}

func checkSetTags(c *call, r *resource) error {
	if c.body.str("fingerprint") != tagsFingerprint(r.Object) {
		return conditionNotMet("Supplied fingerprint does not match current tags fingerprint.")
	}
	return checkTags(c.body)
}

func applySetTags(g *GCP, r *resource, body object) error {
	r.Object["tags"] = object{"items": anys(body.strs("items"))}
	return g.applyAll()
}

func applyProtection(_ *GCP, r *resource, body object) error {
	r.Object["deletionProtection"] = body.str("?deletionProtection") != "false"
	return nil
}

func checkDeviceName(c *call, r *resource) error {
	for _, d := range r.Object.subs("disks") {
		if d.str("deviceName") == c.query.Get("deviceName") {
			return nil
		}
	}
	return invalid("deviceName", c.query.Get("deviceName"), "No attached disk found with device name '%s'", c.query.Get("deviceName"))
}

func applyAutoDelete(_ *GCP, r *resource, body object) error {
	for _, d := range r.Object.subs("disks") {
		if d.str("deviceName") == body.str("?deviceName") {
			d["autoDelete"] = body.str("?autoDelete") == "true"
		}
	}
	return nil
}

// zonalName is the name of an instance in the network's DNS.
func (g *GCP) zonalName(i *resource) string {
	return strings.Join([]string{i.name(), locationOf(i.Path), "c", g.seed.Project, "internal"}, ".")
}
