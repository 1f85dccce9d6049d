// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckSaysThatThereIsNothingToCheck(t *testing.T) {
	t.Setenv("BUTLER_HOME", t.TempDir())
	var said bytes.Buffer
	code := App{Out: &said, Err: &said}.Main([]string{"sim", "check", "--empty"})
	if want := "$BUTLER_HOME has no rehearsals; nothing was checked"; code != 0 || !strings.Contains(said.String(), want) {
		t.Errorf("exit %d, want 0 with %q:\n%s", code, want, said.String())
	}
}

// stopped is a rehearsal whose simulated platform does not run any more.
func stopped(t *testing.T, violations string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("BUTLER_HOME", home)
	dir := filepath.Join(home, "rehearsals", "dev")
	for _, d := range []string{"plane", "sim"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, ".butleradm"), []byte(`{"created":true,"rehearsal":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sim", "violations.jsonl"), []byte(violations), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSimulatorIsChecked(t *testing.T) {
	const wrong = `{"time":"2026-01-02T03:04:05Z","invariant":"one-owner","message":"owner o1 has 2 machines"}` + "\n"
	plan := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(plan, []byte("faults: [{kind: rain}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, tc := range map[string]struct {
		violations string
		args       string
		code       int
		says       string
	}{
		"nothing was wrong":              {"", "check dev", 0, "dev: 0 violations, not running"},
		"something was wrong":            {wrong, "check dev", 1, "one-owner: owner o1 has 2 machines"},
		"all are checked":                {wrong, "check", 1, "dev: 1 violations"},
		"one that runs alone":            {wrong, "check --state-dir $BUTLER_HOME/rehearsals/dev/sim", 1, "sim: 1 violations"},
		"one that ran alone":             {"", "check --empty --state-dir $BUTLER_HOME/rehearsals/dev/sim", 1, "no simulated platform runs in"},
		"what is left is not known":      {"", "check dev --empty", 1, "no simulated platform runs"},
		"an unreadable file":             {"nonsense", "check dev", 1, "violations.jsonl"},
		"no simulator":                   {"", "fault dev --clear", 1, "no simulated platform runs"},
		"neither a plan nor none":        {"", "fault dev", 2, "either --faults FILE or --clear"},
		"both a plan and none":           {"", "fault dev --clear --faults " + plan, 2, "either --faults FILE or --clear"},
		"a plan that is none":            {"", "fault dev --faults " + plan, 2, `there is no "rain"`},
		"a plan without a cluster":       {"", "fault --clear", 2, "the name of one cluster"},
		"a directory without a platform": {"", "fault --clear --state-dir " + t.TempDir(), 1, "no simulated platform has run in"},
		"the directory of a platform":    {"", "fault --clear --state-dir $BUTLER_HOME/rehearsals/dev/sim", 1, "no simulated platform runs"},
		"a cluster that does not exist":  {"", "fault other --clear", 1, `there is no cluster "other"`},
	} {
		t.Run(reason, func(t *testing.T) {
			stopped(t, tc.violations)
			var said bytes.Buffer
			code := App{Out: &said, Err: &said}.Main(append([]string{"sim"}, strings.Fields(os.ExpandEnv(tc.args))...))
			if code != tc.code || !strings.Contains(said.String(), tc.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, tc.code, tc.says, said.String())
			}
		})
	}
}
