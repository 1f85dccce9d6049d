// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/provider"
)

// clock looks at the time: certificates that are issued here are valid from now on, and
// nodes whose clocks differ refuse them.
func clock(context.Context, Options) provider.Finding {
	ok, err := synchronised()
	built, _ := time.Parse(time.RFC3339, version.Date) // zero in a build without a date
	return clockFinding(time.Now(), built, ok, err)
}

func clockFinding(now, built time.Time, synchronised bool, err error) provider.Finding {
	const name, remedy = "clock", "synchronise it, for example with timedatectl set-ntp true: nodes refuse certificates of the future"
	text := now.UTC().Format(time.RFC3339)
	switch {
	case now.Before(built):
		return refused(name, fmt.Sprintf("it is %s, before this program was built (%s)", text, built.UTC().Format(time.RFC3339)), remedy)
	case err != nil:
		return unknown(name, fmt.Sprintf("it is %s; whether that is right is not known: %v", text, err), "compare it with another clock")
	case !synchronised:
		return unknown(name, fmt.Sprintf("it is %s; the kernel reports that nothing keeps it right", text), remedy)
	}
	return passed(name, "it is "+text+", and synchronised")
}
