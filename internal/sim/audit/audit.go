// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package audit watches a simulated platform for what must never happen, whichever process
// uses it and whatever goes wrong: two machines with one owner, two writers at a
// time, a key in plain view. A façade reports to it, in the words that all platforms
// share, what exists and who writes; the datacenter and the nodes report the rest.
// docs/contributing/invariants.md is the list.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// Invariant is a rule that holds at every moment.
type Invariant string

// The invariants.
const (
	WithinDesired Invariant = "machines-within-desired" // no more machines than the manifest has, or had
	OneOwner      Invariant = "one-owner"               // no two machines with one owner id
	OneAddress    Invariant = "one-address"             // no two machines with one address, none with a shared one
	OneBootstrap  Invariant = "one-etcd-bootstrap"      // etcd of a cluster begins once
	OneWriter     Invariant = "one-writer"              // who was followed by another never writes again
	NoSecret      Invariant = "no-secret-on-platform"   // nothing that is sent to the platform contains a key
)

// Violation is one time that an invariant did not hold.
type Violation struct {
	Time      time.Time `json:"time"`
	Invariant Invariant `json:"invariant"`
	Message   string    `json:"message"`
}

// Desired is how many machines a manifest has for a cluster, or had when it had most.
type Desired struct {
	Cluster  string `json:"cluster"`
	Machines int    `json:"machines"`
}

// Object is something on a platform that carries an owner's tags.
type Object struct {
	Resource fault.Resource `json:"resource"`
	// ID is unique on the platform, Name what calls name it by.
	ID        string `json:"id"`
	Name      string `json:"name"`
	OwnerID   string `json:"ownerID"`
	ClusterID string `json:"clusterID,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	// Leaving says that its deletion is under way.
	Leaving bool `json:"leaving,omitempty"`
	// Copy says that the platform copied it, tags included: it has no owner.
	Copy bool `json:"copy,omitempty"`
}

// Options are what an auditor has to know. Dir is needed.
type Options struct {
	// Dir is where violations are kept, and what has to outlive a restart.
	Dir string
	// Desired are the clusters of which the number of machines is known.
	Desired []Desired
	// Shared are addresses that no machine may have for itself.
	Shared []netip.Addr
	Log    *slog.Logger
}

// Auditor checks the invariants with every report, at once. It is safe for
// concurrent use; a nil one checks nothing.
type Auditor struct {
	options Options

	mu        sync.Mutex
	kept      record
	objects   map[string]Object     // by resource and id
	owners    index                 // of machines, by owner id
	clusters  index                 // of machines, by cluster id
	names     map[string]string     // cluster ids, by resource and name
	addresses map[string]netip.Addr // of machines that are on, by id
	machines  map[string]string     // their names, by id
	shared    map[netip.Addr]int    // by how many nodes, besides those of the options
	reported  map[Violation]bool    // without their time
}

// Open returns an auditor that continues where the last one in o.Dir ended.
func Open(o Options) (*Auditor, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &Auditor{
		options: o, objects: map[string]Object{}, owners: index{}, clusters: index{}, names: map[string]string{},
		addresses: map[string]netip.Addr{}, machines: map[string]string{}, shared: map[netip.Addr]int{}, reported: map[Violation]bool{},
	}
	known, err := Violations(o.Dir)
	for _, v := range known {
		a.reported[v.timeless()] = true
	}
	return a, errors.Join(err, a.kept.load(o.Dir))
}

func (v Violation) timeless() Violation {
	v.Time = time.Time{}
	return v
}

func violationsPath(dir string) string { return filepath.Join(dir, "violations.jsonl") }

// Violations are all that were found in dir so far.
func Violations(dir string) (found []Violation, err error) {
	f, err := os.Open(violationsPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := json.NewDecoder(f); lines.More(); {
		var v Violation
		if err := lines.Decode(&v); err != nil {
			return found, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		found = append(found, v)
	}
	return found, nil
}

// report keeps a violation, unless it is known. It is called under lock.
func (a *Auditor) report(i Invariant, format string, args ...any) {
	v := Violation{Invariant: i, Message: fmt.Sprintf(format, args...)}
	if a.reported[v] {
		return
	}
	a.reported[v] = true
	a.options.Log.Error("an invariant is violated", "invariant", i, "message", v.Message)
	v.Time = time.Now().UTC()
	if err := a.append(v); err != nil {
		a.options.Log.Error("a violation cannot be kept", "err", err)
	}
}

func (a *Auditor) append(v Violation) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(violationsPath(a.options.Dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
