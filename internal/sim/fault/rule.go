// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"
)

// maxStale is the longest time for which old states can be read: stores keep them for some minutes.
const maxStale = 4 * time.Minute

// rule is which fields a kind takes besides its own name, and which it needs.
type rule struct{ takes, needs []string }

func rules() map[Kind]rule {
	call := []string{"machine", "verb", "resource", "after", "for", "times"}
	addon := []string{"addon", "after", "for"}
	return map[Kind]rule{
		Throttle:     {takes: append(slices.Clone(call), "retryAfter")},
		Deny:         {takes: call},
		TokenExpiry:  {takes: []string{"after", "for", "times"}},
		Quota:        {takes: []string{"machine", "resource", "after", "for", "times"}},
		SlowList:     {takes: []string{"resource", "after", "for", "times", "delay"}, needs: []string{"delay"}},
		StaleList:    {takes: []string{"resource", "after", "for"}, needs: []string{"for"}},
		LostResponse: {takes: call},
		FailedTask:   {takes: []string{"machine", "verb", "after", "for", "times"}, needs: []string{"verb"}},
		NoCapacity:   {takes: []string{"machine", "after", "for"}},
		MachineDies:  {takes: []string{"machine", "after", "times"}},
		NoAddress:    {takes: []string{"machine", "for"}},
		Clone:        {takes: []string{"machine", "times"}},
		Drain:        {takes: []string{"machine", "after", "times"}},

		ConflictingMachine: {takes: []string{"machine", "after", "for"}, needs: []string{"machine"}},
		NoGateway:          {takes: []string{"after", "for"}},
		ConflictingHost:    {takes: []string{"address", "after", "for"}, needs: []string{"address"}},

		SecondPlatform: {takes: []string{"after", "for"}},
		Hang:           {takes: []string{"after", "for"}},

		APIServerDies: {takes: []string{"machine", "after", "for"}, needs: []string{"for"}},

		ChartUnavailable: {takes: append(slices.Clone(addon), "times")},
		ImageMissing:     {takes: addon},
		AddonNotReady:    {takes: addon},
		WebhookRefuses:   {takes: addon},
		HookFails:        {takes: addon},
	}
}

// Kinds lists all kinds of faults in alphabetical order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(rules())) }

// check complains of everything that is wrong with a fault whose fields could be read.
func (f Fault) check(at string, entry map[string]json.RawMessage) error {
	r, known := rules()[f.Kind]
	if !known {
		return fmt.Errorf("%s.kind: there is no %q; take one of %s", at, f.Kind, words(Kinds()))
	}
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(at+format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		if name != "kind" && !slices.Contains(r.takes, name) {
			complain(".%s has no effect on %s, which takes %s; remove it", name, f.Kind, words(r.takes))
		}
	}
	for _, name := range r.needs {
		if _, there := entry[name]; !there {
			complain(".%s is missing: %s needs it", name, f.Kind)
		}
	}
	f.checkWords(complain)
	f.checkNumbers(entry, complain)
	return errors.Join(wrong...)
}

func (f Fault) checkWords(complain func(string, ...any)) {
	if verbs := f.verbs(); f.Verb != "" && !slices.Contains(verbs, f.Verb) {
		complain(".verb: %s knows no %q; take one of %s", f.Kind, f.Verb, words(verbs))
	}
	resources := []Resource{Machine, Disk, Image, Network, Storage, Secret, LoadBalancer, Category}
	if f.Resource != "" && !slices.Contains(resources, f.Resource) {
		complain(".resource: there is no %q; take one of %s", f.Resource, words(resources))
	}
	for _, pattern := range []struct{ field, text string }{{"machine", f.Machine}, {"addon", f.Addon}} {
		if _, err := path.Match(pattern.text, ""); err != nil {
			complain(".%s: %q is not a pattern: * and ? match any characters, [a-c] some", pattern.field, pattern.text)
		}
	}
	if f.Kind == ConflictingMachine && strings.ContainsAny(f.Machine, `*?[\`) {
		complain(".machine: %q is a pattern; a conflicting machine has one name", f.Machine)
	}
	if _, err := netip.ParseAddr(f.Address); f.Address != "" && err != nil {
		complain(".address: %q is not an IP address", f.Address)
	}
}

func (f Fault) verbs() []Verb {
	switch f.Kind {
	case FailedTask:
		return []Verb{Create, Delete}
	case LostResponse:
		return []Verb{Get, List, Create, Update, Delete}
	default:
		return []Verb{Get, List, Watch, Create, Update, Delete}
	}
}

func (f Fault) checkNumbers(entry map[string]json.RawMessage, complain func(string, ...any)) {
	for name, d := range map[string]time.Duration{
		"after": f.After.Duration, "for": f.For.Duration, "delay": f.Delay.Duration, "retryAfter": f.RetryAfter.Duration,
	} {
		if _, there := entry[name]; there && (d < 0 || d == 0 && name != "after") {
			complain(".%s: %s is not a time that can pass", name, d)
		}
	}
	if f.Kind == StaleList && f.For.Duration > maxStale {
		complain(".for: states older than %s cannot be read", maxStale)
	}
	if _, there := entry["times"]; there && f.Times < 1 {
		complain(".times: %d is not a number of times; leave it out for no limit", f.Times)
	}
}
