// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// kills is how often a rehearsal is killed unless BUTLER_TEST_KILLS says it. More
// of them than this need a platform that takes its time, or most would find the
// cluster Ready.
const kills = 2

func TestKilledRehearsalContinuesWhereItWas(t *testing.T) {
	seed := numberFrom(t, "BUTLER_TEST_SEED", time.Now().UnixNano())
	t.Logf("BUTLER_TEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	a := newAdm(t)
	count, profile := numberFrom(t, "BUTLER_TEST_KILLS", kills), "instant"
	if count > kills {
		profile = "realistic"
	}
	bootstrap := []string{"bootstrap", "harvester", "-c", exampleHA, "--rehearse", "--profile", profile}
	for range count {
		// The plane takes about two seconds of it.
		after := time.Duration(500+random.IntN(7500)) * time.Millisecond
		r := a.stopAfter(after, syscall.SIGKILL, bootstrap...)
		t.Logf("killed after %s in phase %s", after, lastPhase(r.err))
	}
	for range count {
		after := time.Duration(random.IntN(6000)) * time.Millisecond
		r := a.killAmongAddons(after, bootstrap...)
		t.Logf("killed %s after addons began, in phase %s", after, lastPhase(r.err))
	}
	a.ok(bootstrap...)
	expectSixNodes(t, a)
	expectAddons(t, a, "butler-mgmt", addonsHA...)
	expectOneReleaseEach(t, a, "butler-mgmt", releasesHA...)
	if m, v := a.uids("butler-mgmt", virtualMachines), a.uids("butler-mgmt", volumeClaims); len(m) != 6 || len(v) != 9 {
		t.Errorf("%d machines and %d volumes, want 6 and 9", len(m), len(v))
	}
	sim := filepath.Join(a.home, "rehearsals", "butler-mgmt", "sim")
	expectOneEtcdBootstrap(t, sim)
	expectOnePKI(t, sim)
	a.ok("destroy", "butler-mgmt", "--yes")
	a.expectNothingOnThePlatform("butler-mgmt")
}

// killAmongAddons kills a command some time after it has begun with addons,
// unless it ends before.
func (a adm) killAmongAddons(after time.Duration, args ...string) result {
	a.Helper()
	cmd, out, said := a.command(args...)
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	waitFor(a.T, func() bool {
		select {
		case <-ended:
			return true
		default:
			return strings.Contains(said.String(), "InstallingAddons")
		}
	})
	select {
	case <-ended:
	case <-time.After(after):
		_ = cmd.Process.Kill()
		<-ended
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// lastPhase is what the command said last about the phase.
func lastPhase(said string) string {
	phase := "none"
	for line := range strings.Lines(said) {
		if _, name, ok := strings.Cut(line, "•"); ok {
			phase = strings.TrimSpace(name)
		}
	}
	return phase
}

func numberFrom(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// matching reads all files of a pattern.
func matching(t *testing.T, pattern ...string) (out [][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// expectOneEtcdBootstrap asks the simulated nodes' own record.
func expectOneEtcdBootstrap(t *testing.T, sim string) {
	t.Helper()
	records := matching(t, sim, "clusters", "*", "bootstraps")
	if len(records) != 1 || bytes.Count(records[0], []byte("\n")) != 1 {
		t.Errorf("etcd was bootstrapped in %d clusters:\n%s", len(records), bytes.Join(records, nil))
	}
}

// expectOnePKI compares what the machines were given.
func expectOnePKI(t *testing.T, sim string) {
	t.Helper()
	configs := matching(t, sim, "datacenter", "machines", "*", "config.yaml")
	authorities := map[string]int{}
	for _, data := range configs {
		var config struct {
			Machine, Cluster struct {
				CA struct {
					Crt string `yaml:"crt"`
				} `yaml:"ca"`
			}
		}
		if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&config); err != nil {
			t.Fatal(err)
		}
		authorities[config.Machine.CA.Crt+config.Cluster.CA.Crt]++
	}
	if len(configs) != 6 || len(authorities) != 1 || authorities[""] != 0 {
		t.Errorf("%d machines are configured, with %d different authorities", len(configs), len(authorities))
	}
}
