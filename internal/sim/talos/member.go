// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/butlerdotdev/butler/internal/plane"
)

// member is one of etcd, whether or not its machine still exists: it counts for the
// quorum until it is removed.
type member struct {
	ID       uint64 `json:"id"`
	Hostname string `json:"hostname"`
	Address  string `json:"address"`
	Disk     string `json:"disk"`
	Learner  bool   `json:"learner,omitempty"` // does not vote, nor count for the quorum
}

func (m member) proto() *machine.EtcdMember {
	return &machine.EtcdMember{
		Id:         m.ID,
		Hostname:   m.Hostname,
		PeerUrls:   []string{"https://" + m.Address + ":2380"},
		ClientUrls: []string{"https://" + m.Address + ":2379"},
		IsLearner:  m.Learner,
	}
}

// onDisk says whether the member's data still exist somewhere.
func (m member) onDisk() bool {
	data, ok := disk{m.Disk}.etcd()
	return ok && data.Member == m.ID
}

func newMemberID() uint64 {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	return binary.BigEndian.Uint64(raw[:])
}

func (f *formation) membersPath() string    { return filepath.Join(f.dir, "members.json") }
func (f *formation) bootstrapsPath() string { return filepath.Join(f.dir, "bootstraps") }
func (f *formation) kubernetesDir() string  { return filepath.Join(f.dir, "kubernetes") }

func (f *formation) load() error {
	raw, err := os.ReadFile(f.membersPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &f.members)
	}
	if err != nil {
		return fmt.Errorf("read the members of etcd: %w", err)
	}
	return f.sweep()
}

// clean removes what the cluster kept if no disk has any of it.
func (f *formation) clean() {
	f.change(func() {
		if err := f.sweep(); err != nil {
			f.log.Warn("data of a cluster stay", "error", err)
		}
	})
}

// sweep is called under lock, or before the formation is shared.
func (f *formation) sweep() error {
	if len(f.members) == 0 || len(f.running) > 0 || slices.ContainsFunc(f.members, member.onDisk) {
		return nil
	}
	f.members = nil
	if err := os.RemoveAll(f.dir); err != nil {
		return fmt.Errorf("remove the data of a cluster without members: %w", err)
	}
	return nil
}

// setMembers keeps the members on disk, then in memory. It is called under lock.
func (f *formation) setMembers(members []member) error {
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if err := plane.WriteFile(f.membersPath(), raw); err != nil {
		return fmt.Errorf("keep the members of etcd: %w", err)
	}
	f.members = members
	return nil
}

// found makes m, which is that of n, the first member. It reports false if there are
// others: a real node would make a second etcd then, which cannot be played.
func (f *formation) found(m member, n *node) (ok bool, err error) {
	f.change(func() {
		if len(f.members) == 0 {
			err = f.setMembers([]member{m})
		}
		if ok = err == nil && f.has(m.ID); ok {
			f.running[m.ID] = n // it has nothing on its disk so far
		}
	})
	return ok, err
}

// noteBootstrap adds a line to the file of this cluster's bootstraps, once for each.
func (f *formation) noteBootstrap(m member, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	noted, err := os.ReadFile(f.bootstrapsPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	id := fmt.Sprintf(" %x\n", m.ID)
	if strings.Contains(string(noted), id) {
		return nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	line := time.Now().UTC().Format(time.RFC3339Nano) + " " + name + " " + filepath.Base(m.Disk) + id
	return plane.WriteFile(f.bootstrapsPath(), append(noted, line...))
}

// join makes m a learner beside the others, one at a time; it has no name before it
// starts. One that was added before, and did not come to write its data, is found
// again by its address and keeps its id. One of the same name lost its disk: Talos
// takes it off the list. Any other learner that does not come to vote keeps all
// waiting, as in a real etcd.
func (f *formation) join(ctx context.Context, m member) (_ member, err error) {
	others := func() []member {
		return slices.DeleteFunc(slices.Clone(f.members), func(o member) bool { return o.Hostname == m.Hostname })
	}
	learner := m
	learner.Learner, learner.Hostname = true, ""
	free := func() bool { return f.plane != nil && !learns(others(), m.Address) }
	for {
		var joined bool
		f.change(func() {
			if joined = free(); joined {
				err = f.setMembers(with(others(), &learner))
			}
		})
		if joined {
			return learner, err
		}
		if err := f.await(ctx, free); err != nil {
			return m, err
		}
	}
}

// learns says whether another than the one at address is a learner.
func learns(members []member, address string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.Learner && m.Address != address })
}

// with is the list with m in it, in place of the one at its address.
func with(members []member, m *member) []member {
	i := slices.IndexFunc(members, func(o member) bool { return o.Address == m.Address })
	if i < 0 {
		return append(members, *m)
	}
	m.ID, m.Learner = members[i].ID, members[i].Learner
	members[i] = *m
	return members
}

// name gives a member that starts its name. It is called under lock.
func (f *formation) name(m member) error {
	members := slices.Clone(f.members)
	i := slices.IndexFunc(members, func(o member) bool { return o.ID == m.ID && o.Hostname != m.Hostname })
	if i < 0 {
		return nil
	}
	members[i].Hostname = m.Hostname
	return f.setMembers(members)
}

// promote has a learner vote.
func (f *formation) promote(id uint64) (err error) {
	f.change(func() {
		members := slices.Clone(f.members)
		i := slices.IndexFunc(members, func(m member) bool { return m.ID == id && m.Learner })
		if i >= 0 {
			members[i].Learner = false
			err = f.setMembers(members)
		}
	})
	return err
}

func (f *formation) isLearner(id uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.members, func(m member) bool { return m.ID == id && m.Learner })
}

// remove takes a member off the list; it reports false if there is no such member.
func (f *formation) remove(id uint64) (ok bool, err error) {
	f.change(func() {
		if ok = f.has(id); ok {
			err = f.setMembers(slices.DeleteFunc(slices.Clone(f.members), func(m member) bool { return m.ID == id }))
		}
	})
	return ok, err
}

func (f *formation) has(id uint64) bool {
	return slices.ContainsFunc(f.members, func(m member) bool { return m.ID == id })
}

// list is what etcd answers, sorted by hostname.
func (f *formation) list() (members []*machine.EtcdMember) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		members = append(members, m.proto())
	}
	slices.SortFunc(members, func(a, b *machine.EtcdMember) int {
		return cmp.Or(cmp.Compare(a.GetHostname(), b.GetHostname()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return members
}
