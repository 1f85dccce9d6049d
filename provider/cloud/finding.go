// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// mostCandidates is how many objects are named where none is set.
const mostCandidates = 8

// NotSet refuses settings without an entry, and names those that could be meant.
func NotSet(about, field string, candidates []string) provider.Finding {
	f := provider.Finding{Check: about, Verdict: provider.Refused, Message: field + " is empty, and nothing is used by default", Hint: "set it"}
	if more := len(candidates) - mostCandidates; more > 0 {
		candidates = append(candidates[:mostCandidates:mostCandidates], fmt.Sprintf("and %d more", more))
	}
	if len(candidates) > 0 {
		f.Hint = "set it, for example to " + strings.Join(candidates, ", ")
	}
	return f
}

// NoCredentials refuses machines without an identity for a cluster whose ProviderConfig has
// no Secret.
func NoCredentials(about, hint string) []provider.Finding {
	return []provider.Finding{{Check: about, Verdict: provider.Refused, Message: "without a Secret the new cluster uses the identity of its machines, and they have none", Hint: hint}}
}

// Room compares the machines of a subnet with its free addresses.
func Room(subnet, place string, free, machines int, hint string) provider.Finding {
	f := provider.Finding{Check: "subnet " + subnet, Verdict: provider.Passed, Message: fmt.Sprintf("%s, %d addresses are free", place, free)}
	if free < machines {
		f.Verdict, f.Hint = provider.Refused, hint
		f.Message = fmt.Sprintf("%d machines are requested, and %d addresses are free", machines, free)
	}
	return f
}

// Quota is how much of something an account may have.
type Quota struct {
	// Name is the cloud's, and Unit what is counted, such as vCPUs.
	Name, Unit  string
	Asked, Used int32
	// Limit is nil if it may not be read, and Grant is what would allow it.
	Limit *float64
	Grant string
	// Raise is what to do if too little is left.
	Raise string
}

// Finding compares what is asked for with what is left.
func (q Quota) Finding() provider.Finding {
	f := provider.Finding{Check: q.Unit[:len(q.Unit)-1] + " quota " + q.Name, Verdict: provider.Unknown}
	if q.Limit == nil {
		f.Message, f.Hint = fmt.Sprintf("%d %s are requested; the credentials cannot read the quota", q.Asked, q.Unit), q.Grant
		return f
	}
	left := int32(min(*q.Limit, 1e9)) - q.Used
	f.Message = fmt.Sprintf("%d %s are requested, and %d of %.0f are left", q.Asked, q.Unit, max(left, 0), *q.Limit)
	if f.Verdict = provider.Passed; q.Asked > left {
		f.Verdict, f.Hint = provider.Refused, q.Raise
	}
	return f
}

// WithOp names what was tried in an error of a lookup that does not say it.
func WithOp(op string, err error) error {
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Op == "" {
		e.Op = op
	}
	return err
}

// Unreported returns the error of a lookup unless it is one that check.Verdict turns into
// a finding: then the check whose lookup it is reports it.
func Unreported(err error) error {
	_, err = check.Verdict("", err)
	return err
}
