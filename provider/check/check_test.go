// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestVerdictOnAnError(t *testing.T) {
	said := errors.New("said the platform")
	for name, c := range map[string]struct {
		err   error
		want  provider.Verdict
		asked bool // the platform could be asked
	}{
		"it works":              {nil, provider.Passed, true},
		"it is not there":       {provider.Invalid.New("", provider.ReasonImageNotFound, said, "do"), provider.Refused, true},
		"it belongs to another": {provider.NameTaken("", "it", "machineName"), provider.Refused, true},
		"it may not be read":    {provider.Unauthorized.New("", provider.ReasonPermissionDenied, said, "do"), provider.Unknown, true},
		"it is being imported":  {provider.Unavailable.New("", provider.ReasonImageNotReady, said, "do"), provider.Unknown, true},
		"no answer":             {provider.Unavailable.New("", provider.ReasonPlatformUnavailable, said, "do"), "", false},
		"refused credentials":   {provider.Unauthorized.New("", provider.ReasonCredentialsRefused, said, "do"), "", false},
		"no error of a driver":  {said, "", false},
	} {
		f, err := Verdict("it", c.err)
		if (err == nil) != c.asked || c.asked && f.Verdict != c.want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if c.asked && c.err != nil && (f.Message == "" || f.Hint == "") {
			t.Errorf("%s: neither %q nor %q may be empty", name, f.Message, f.Hint)
		}
	}
}

func TestRunKeepsTheOrderAndEndsWithAnError(t *testing.T) {
	says := func(what string, err error) Check {
		return func(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
			return []provider.Finding{{Check: what}}, err
		}
	}
	got, err := Run(t.Context(), nil, says("a", nil), says("b", nil))
	if diff := cmp.Diff([]provider.Finding{{Check: "a"}, {Check: "b"}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	silent := errors.New("no answer")
	if got, err := Run(t.Context(), nil, says("a", nil), says("b", silent)); !errors.Is(err, silent) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCapacityRefusesOnlyWhatNoHostCanHold(t *testing.T) {
	host, none := Amount{CPU: 32_000, Memory: 64 << 30}, &Amount{}
	specs := []provider.MachineSpec{{CPU: 4, MemoryMB: 8192}}
	for name, c := range map[string]struct {
		Pool
		want provider.Verdict
	}{
		"it fits":                    {Pool{Hosts: []Amount{host}, Used: none}, provider.Passed},
		"too little is free":         {Pool{Hosts: []Amount{host}, Used: &Amount{CPU: 30_000, Memory: 60 << 30}}, provider.Unknown},
		"what is used is unknown":    {Pool{Hosts: []Amount{host}, Grant: "grant it"}, provider.Unknown},
		"no host":                    {Pool{Used: none}, provider.Unknown},
		"no host is large enough":    {Pool{Hosts: []Amount{{CPU: 32_000, Memory: 7 << 30}, {CPU: 1000, Memory: 1 << 30}}, Used: none}, provider.Refused},
		"several hosts count as one": {Pool{Hosts: []Amount{{CPU: 3000, Memory: 8 << 30}, {CPU: 3000, Memory: 8 << 30}}, Used: none}, provider.Passed},
	} {
		f := c.Capacity(specs)
		if f.Verdict != c.want || f.Message == "" || (f.Hint == "") != (c.want == provider.Passed) {
			t.Errorf("%s: %+v, want %s", name, f, c.want)
		}
	}
}

func TestControlPlanesThatShareAHostAreWarnedOf(t *testing.T) {
	planes := []provider.MachineSpec{{Role: v1alpha1.RoleControlPlane}, {Role: v1alpha1.RoleWorker}, {Role: v1alpha1.RoleControlPlane}, {Role: v1alpha1.RoleControlPlane}}
	for hosts, want := range map[int]provider.Verdict{1: provider.Unknown, 2: provider.Unknown, 3: provider.Passed, 4: provider.Passed} {
		got := Pool{Hosts: make([]Amount, hosts)}.Spread(planes)
		if len(got) != 1 || got[0].Verdict != want || (want == provider.Unknown) != strings.Contains(got[0].Message, "3 control planes") {
			t.Errorf("%d hosts: %+v", hosts, got)
		}
	}
	if got := (Pool{Hosts: make([]Amount, 1)}).Spread(planes[:2]); len(got) > 0 {
		t.Errorf("one control plane on one host: %+v", got)
	}
}
