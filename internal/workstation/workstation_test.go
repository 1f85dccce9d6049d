// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/butlerdotdev/butler/provider"
)

func TestFindingsOnThisMachine(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	behind := httpproxy.Config{HTTPSProxy: "http://me:canary@proxy.example.com:3128", NoProxy: "10.0.0.0/8"}
	for reason, c := range map[string]struct {
		got  provider.Finding
		want provider.Verdict
		says string
	}{
		"room":                        {diskFinding(9<<30, "/x"), provider.Passed, "9.0 GiB are free at /x"},
		"little room":                 {diskFinding(1<<30, "/x"), provider.Unknown, "1.0 GiB"},
		"no room":                     {diskFinding(1<<20, "/x"), provider.Refused, "0.0 GiB"},
		"many files":                  {filesFinding(1 << 20), provider.Passed, "1048576"},
		"some files":                  {filesFinding(1024), provider.Unknown, "1024"},
		"few files":                   {filesFinding(64), provider.Refused, "64"},
		"no limit of files":           {filesFinding(^uint64(0)), provider.Passed, "no limit"},
		"memory":                      {memoryFinding(4 << 30), provider.Passed, "4.0 GiB"},
		"little memory":               {memoryFinding(1 << 29), provider.Unknown, "0.5 GiB"},
		"the right time":              {clockFinding(now, now.Add(-time.Hour), true, nil), provider.Passed, "2026-01-02T03:04:05Z"},
		"a clock that nothing keeps":  {clockFinding(now, time.Time{}, false, nil), provider.Unknown, "nothing keeps it right"},
		"a clock that is not known":   {clockFinding(now, time.Time{}, false, errors.New("not here")), provider.Unknown, "not here"},
		"before the program":          {clockFinding(now, now.Add(time.Hour), true, nil), provider.Refused, "before this program was built"},
		"no proxy":                    {proxyFinding(&httpproxy.Config{}, []string{"10.0.0.1"}), provider.Passed, "none is set"},
		"a proxy for others":          {proxyFinding(&behind, []string{"10.0.0.1"}), provider.Passed, "proxy.example.com:3128"},
		"a proxy for the platform":    {proxyFinding(&behind, []string{"harvester.example.com"}), provider.Unknown, "harvester.example.com"},
		"a proxy that is no address":  {proxyFinding(&httpproxy.Config{HTTPSProxy: "http://%zz"}, nil), provider.Refused, "is not a URL"},
		"a proxy without a scheme":    {proxyFinding(&httpproxy.Config{HTTPProxy: "proxy:3128"}, nil), provider.Passed, "no proxy"},
		"a home that will be created": {stateDir(t.Context(), Options{Home: filepath.Join(t.TempDir(), "a", "b")}), provider.Passed, "will be created"},
		"a home that is a file":       {stateDir(t.Context(), Options{Home: plain(t)}), provider.Refused, "is not a directory"},
		"a home below a file":         {stateDir(t.Context(), Options{Home: filepath.Join(plain(t), "x")}), provider.Refused, "not a directory"},
		"free ports":                  {loopback(t.Context(), Options{}), provider.Passed, "127.0.0.1:"},
		"a name that is not found":    {names(t.Context(), Options{Hosts: []string{"nothing.invalid"}}), provider.Unknown, "nothing.invalid"},
		"names that need no server":   {names(t.Context(), Options{Hosts: []string{"127.0.0.1", "::1", "", "localhost"}}), provider.Passed, "localhost"},
	} {
		if c.got.Verdict != c.want || !strings.Contains(c.got.Message, c.says) || strings.Contains(c.got.Message, "canary") {
			t.Errorf("%s: %+v, want %s and %q", reason, c.got, c.want, c.says)
		}
		if (c.got.Hint == "") != (c.want == provider.Passed) {
			t.Errorf("%s: the remedy is %q", reason, c.got.Hint)
		}
	}
}

func TestEveryCheckIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Check(t.Context(), Options{Home: t.TempDir()}) {
		if f.Check == "" || f.Message == "" || seen[f.Check] {
			t.Errorf("%+v", f)
		}
		seen[f.Check] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d checks", len(seen))
	}
}

func TestARehearsalNeedsNoNetwork(t *testing.T) {
	for _, f := range Check(t.Context(), Options{Home: t.TempDir(), Rehearsal: true, Hosts: []string{"nothing.invalid"}}) {
		if f.Check == "clock" || f.Check == "proxies" || f.Check == "name resolution" {
			t.Errorf("%+v", f)
		}
	}
}

func TestHostOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://prism.example.com:9440/api": "prism.example.com", "pve.example.com:8006": "pve.example.com",
		"10.0.0.1": "10.0.0.1", "[fd00::1]:6443": "fd00::1", "": "",
	} {
		if got := HostOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func plain(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
