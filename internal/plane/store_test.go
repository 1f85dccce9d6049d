// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// store is the directory of an etcd that is killed again and again.
type store struct {
	*testing.T
	dir, executable string

	mu           sync.Mutex
	acknowledged []string
}

// life is one process of it.
type life struct {
	cmd   *exec.Cmd
	stdin io.Closer
	// reports ends with the process; a report is "ready ADDRESS" or "error MESSAGE".
	reports chan string
	log     string
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{T: t, dir: t.TempDir(), executable: planetest.Executable(t)}
	if err := os.Mkdir(s.path("etcd"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

// begin starts a process with the flags that a plane starts it with.
func (s *store) begin(n int) *life {
	s.Helper()
	l := &life{reports: make(chan string, 2), log: s.path(fmt.Sprintf("%d.log", n))}
	l.cmd = exec.Command(s.executable, "component", "etcd", "--data-dir="+s.path("etcd/data"), "--quota-backend-bytes=0")
	log, err := os.Create(l.log)
	if err != nil {
		s.Fatal(err)
	}
	defer log.Close()
	l.cmd.Dir, l.cmd.Stderr = s.dir, log
	stdin, err := l.cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	stdout, err := l.cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	l.stdin = stdin
	go func() {
		defer close(l.reports)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			l.reports <- lines.Text()
		}
	}()
	return l
}

func (s *store) access(address string) clientv3.Config {
	return clientv3.Config{Endpoints: []string{"unix://" + s.path(address)}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()}
}

// load writes until the store is gone: many small values, so that there are snapshots, and large
// ones, so that there are new files of the log.
func (s *store) load(ctx context.Context, address string, n int) {
	c, err := clientv3.New(s.access(address))
	if err != nil {
		return
	}
	defer c.Close()
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			value := strings.Repeat("x", 64)
			if w < 2 {
				value = strings.Repeat("x", 512<<10)
			}
			for i := 0; ctx.Err() == nil; i++ {
				key := fmt.Sprintf("%d/%d/%d", n, w, i)
				if w < 2 {
					key = fmt.Sprintf("large/%d", w)
				}
				if _, err := c.Put(ctx, key, value); err == nil && w >= 2 {
					s.mu.Lock()
					s.acknowledged = append(s.acknowledged, key)
					s.mu.Unlock()
				}
			}
		})
	}
	all.Wait()
}

// live runs a process for a time, or until it has ended by itself, which is wrong. A negative time
// is until it is ready, which it has to be.
func (s *store) live(n int, until time.Duration) (loaded bool) {
	s.Helper()
	if err := plane.BeginStore(s.dir); err != nil {
		s.Fatal(err)
	}
	l := s.begin(n)
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	end := time.After(until)
	if until < 0 {
		end = time.After(time.Minute)
	}
	var load sync.WaitGroup
	defer func() {
		_ = l.cmd.Process.Kill() // it may have ended
		_ = l.cmd.Wait()
		cancel()
		load.Wait()
	}()
	for {
		select {
		case <-end:
			if until < 0 {
				s.Fatalf("life %d: etcd is not ready after a minute: %s", n, plane.LastLine(l.log))
			}
			return loaded
		case report, alive := <-l.reports:
			address, ok := strings.CutPrefix(report, "ready ")
			if !alive || !ok {
				text, _ := os.ReadFile(l.log)
				s.Fatalf("life %d: etcd ended: %s\n%s", n, report, text)
			}
			if err := plane.StoreBegun(s.dir); err != nil {
				s.Fatal(err)
			}
			if until < 0 {
				s.expectAll(address)
				return false
			}
			loaded = true
			load.Go(func() { s.load(ctx, address, n) })
		}
	}
}

// expectAll wants every acknowledged write.
func (s *store) expectAll(address string) {
	s.Helper()
	c, err := clientv3.New(s.access(address))
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	all, err := c.Get(s.Context(), "", clientv3.WithFromKey(), clientv3.WithKeysOnly())
	if err != nil {
		s.Fatal(err)
	}
	found := map[string]bool{}
	for _, kv := range all.Kvs {
		found[string(kv.Key)] = true
	}
	for _, key := range s.acknowledged {
		if !found[key] {
			s.Errorf("acknowledged write %s is lost", key)
		}
	}
}

// TestAKilledStoreStartsAgain kills etcd at any moment: while it creates its files, starts, writes
// its log and its snapshots, and begins a new file of the log. It starts again, with every write
// that was acknowledged.
func TestAKilledStoreStartsAgain(t *testing.T) {
	lives, longest := 6, 800
	if os.Getenv("BUTLER_TEST_FAULTS") == "all" {
		lives, longest = 150, 3000
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var s *store
	ready, stores, written := 0, 0, 0
	for n := range lives {
		if n%10 == 0 {
			s = newStore(t)
			stores++
		}
		if s.live(n, time.Duration(random.IntN(longest))*time.Millisecond) {
			ready++
		}
		if n%3 == 2 {
			s.live(-n-1, -1)
			written = max(written, len(s.acknowledged))
		}
	}
	t.Logf("%d lives of %d stores, %d of them until they were ready; up to %d acknowledged writes in one store", lives, stores, ready, written)
}

// TestAFirstStartThatWasInterruptedBeginsAgain kills etcd when its log has just been created: the
// membership is not in it yet, and no process would ever add it.
func TestAFirstStartThatWasInterruptedBeginsAgain(t *testing.T) {
	for n := range 3 {
		s := newStore(t)
		if err := plane.BeginStore(s.dir); err != nil {
			t.Fatal(err)
		}
		l := s.begin(n)
		for deadline := time.Now().Add(time.Minute); !exists(s.path("etcd/data/member/wal")); {
			if time.Now().After(deadline) {
				t.Fatal("etcd creates no log")
			}
		}
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		s.live(-n-1, -1)
		if exists(s.path("etcd/initial")) {
			t.Error("a store that serves is still marked as one that does not")
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestASecondStoreInADirectoryDoesNoHarm starts a second process on the same files, past the lock
// of a plane, while the first one writes.
func TestASecondStoreInADirectoryDoesNoHarm(t *testing.T) {
	s := newStore(t)
	first := s.begin(0)
	address, ok := strings.CutPrefix(<-first.reports, "ready ")
	if !ok {
		t.Fatal(address)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() { s.load(ctx, address, 0) })
	second := s.begin(1)
	select {
	case report := <-second.reports:
		t.Errorf("the second is not kept waiting: %s; %s", report, plane.LastLine(second.log))
	case <-time.After(3 * time.Second):
	}
	cancel()
	load.Wait()
	s.expectAll(address)
	for _, l := range []*life{first, second} {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	}
	s.live(2, -1)
}
