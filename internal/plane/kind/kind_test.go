// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/butlerdotdev/butler/internal/failure"
)

// played is an engine that records its calls.
type played struct {
	exists  bool
	stopped bool
	failed  error
	calls   []string
}

func (p *played) Exists(string) (bool, error) { return p.exists, nil }

func (p *played) Create(name string) error {
	p.calls, p.exists = append(p.calls, "create "+name), p.failed == nil
	return p.failed
}

func (p *played) Kubeconfig(string) ([]byte, error) {
	if p.stopped {
		return nil, errors.New("exit status 1")
	}
	return []byte("access"), nil
}

func (p *played) Load(string, io.ReadSeeker) error { return nil }

func (p *played) Delete(name string) error {
	p.calls, p.exists = append(p.calls, "delete "+name), false
	return nil
}

func TestAKINDClusterIsCreatedOnceAndNeverReplaced(t *testing.T) {
	for reason, c := range map[string]struct {
		exists, known bool
		failed        error
		calls         []string
		want          string
	}{
		"a new one":                             {calls: []string{"create a"}},
		"one that runs":                         {exists: true, known: true},
		"left of an interrupted creation":       {exists: true, calls: []string{"delete a", "create a"}},
		"one that was deleted by another":       {known: true, want: "the KIND cluster a is gone, and with it what it knew of the platform"},
		"the engine does not create the nodes":  {failed: errors.New("no space left"), calls: []string{"create a"}, want: "create the KIND cluster a: no space left"},
		"neither, after an earlier one is left": {exists: true, failed: errors.New("no space left"), calls: []string{"delete a", "create a"}, want: "no space left"},
	} {
		t.Run(reason, func(t *testing.T) {
			e := &played{exists: c.exists, failed: c.failed}
			o := Options{Dir: t.TempDir(), Name: "a", Engine: e}
			if c.known {
				if err := os.WriteFile(KubeconfigPath(o.Dir), []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := o.ensure()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !slices.Equal(e.calls, c.calls) {
				t.Errorf("the calls are %q", e.calls)
			}
			if data, _ := os.ReadFile(KubeconfigPath(o.Dir)); err == nil && string(data) != "access" {
				t.Errorf("the kubeconfig is %q", data)
			}
		})
	}
}

func TestAStoppedKINDClusterIsReportedWithItsStart(t *testing.T) {
	o := Options{Dir: t.TempDir(), Name: "a", Engine: &played{exists: true, stopped: true}}
	err := o.ensure()
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 1; start its containers, for example: docker start a-control-plane") {
		t.Error(err)
	}
}

func TestReleaseDeletesTheKINDClusterIfThereIsOne(t *testing.T) {
	for reason, c := range map[string]struct {
		exists, known bool
		calls         []string
	}{
		"never created":                   {},
		"left of an interrupted creation": {exists: true, calls: []string{"delete a"}},
		"created":                         {exists: true, known: true, calls: []string{"delete a"}},
		"deleted by another":              {known: true, calls: []string{"delete a"}},
	} {
		e := &played{exists: c.exists}
		o := Options{Dir: t.TempDir(), Name: "a", Engine: e}
		if c.known {
			if err := os.WriteFile(KubeconfigPath(o.Dir), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Release(o); err != nil || !slices.Equal(e.calls, c.calls) {
			t.Errorf("%s: %v, the calls are %q", reason, err, e.calls)
		}
	}
}

func TestAnInterruptedCommandDoesNotWaitForTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stuck := make(chan struct{})
		defer close(stuck)
		cause := errors.New("interrupted")
		cancel(cause)
		if err := until(ctx, func() error { <-stuck; return nil }); !errors.Is(err, cause) {
			t.Error(err)
		}
	})
}

// TestWithoutAnEngineTheEmbeddedPlaneIsNamed looks for engines where there are none.
func TestWithoutAnEngineTheEmbeddedPlaneIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Library{}.Exists("a")
	const want = "--plane kind needs Docker or Podman, and this machine has neither; leave out --plane: the embedded plane needs nothing"
	if failure.KindOf(err) != failure.Usage || err.Error() != want {
		t.Error(err)
	}
}

func TestAnEngineThatDoesNotAnswerIsReported(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = -v ] && { echo 'Docker version 27.0.0, build 0'; exit 0; }\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"
	if err := os.WriteFile(dir+"/docker", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	_, err := Library{}.Exists("a")
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "exit status 1: Cannot connect to the Docker daemon; leave out --plane") || !strings.Contains(err.Error(), "the embedded plane needs nothing") {
		t.Error(err)
	}
}

func TestNamesFitIntoHostNames(t *testing.T) {
	name := Name(strings.Repeat("a", 63), "0123456789abcdef")
	if len(name+"-control-plane") > 63 || !strings.HasSuffix(name, "-01234567") {
		t.Errorf("%s has %d characters", name, len(name))
	}
}
