// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
clusters: [{name: c, cluster: {server: "` + server + `"}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheFlagCountsBeforeTheEnvironmentAndThatBeforeTheCluster(t *testing.T) {
	flagged, environment := kubeconfig(t, "https://flag"), kubeconfig(t, "https://environment")
	cases := map[string]struct{ flag, env, want string }{
		"flag":        {flagged, environment, "https://flag"},
		"environment": {"", environment, "https://environment"},
		"neither":     {"", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.env)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			got, err := settings{kubeconfig: c.flag}.config()
			if c.want == "" {
				if err == nil || !strings.Contains(err.Error(), "in-cluster") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got.Host != c.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestDefaultsOpenNoPort(t *testing.T) {
	s, err := Program{Name: "x"}.parse([]string{"--log-level", "debug"}, &bytes.Buffer{})
	if err != nil || s.metrics != "0" || s.health != "0" || s.leaderElect || s.level != slog.LevelDebug {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestHelpIsNoFailure(t *testing.T) {
	var out, help bytes.Buffer
	p := Program{Name: "butler-test"}
	if err := p.Run(t.Context(), []string{"--help"}, Streams{Out: &out, Err: &help}); err != nil || !strings.Contains(help.String(), "leader-elect") {
		t.Errorf("%v: %s", err, help.String())
	}
	if err := p.Run(t.Context(), []string{"--version"}, Streams{Out: &out, Err: &help}); err != nil || !strings.HasPrefix(out.String(), "butler-test v") {
		t.Errorf("%v: %s", err, out.String())
	}
}
