// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// chartPatience is how long the sources of addons have for an answer.
	chartPatience = 60 * time.Second
	// fetchesAtOnce is how many addons are fetched at the same time.
	fetchesAtOnce = 4
)

// Digests fetches addons, and returns their checksums by key. A source that does not answer
// may do so later: then the result of the check is unknown.
func (o *Operation) Digests(addons []addon.Addon) (map[string]string, []provider.Finding) {
	ctx, cancel := context.WithTimeout(o.ctx, chartPatience)
	defer cancel()
	source, err := o.newSource()
	if err != nil {
		return nil, []provider.Finding{unfetched("sources of addons", err)}
	}
	digests, failed := fetchAll(addons, func(a addon.Addon) (string, error) {
		content, err := source.Fetch(ctx, a, AnyVariables)
		return content.Digest, err
	})
	if len(failed) > 0 {
		return digests, failed
	}
	return digests, []provider.Finding{{Check: "sources of addons", Verdict: provider.Passed, Message: fmt.Sprintf("%d addons were fetched or are part of butleradm", len(addons))}}
}

// unfetched is the finding about a source that did not answer. What the error says to do is
// the hint.
func unfetched(check string, err error) provider.Finding {
	message, hint, _ := strings.Cut(err.Error(), "; ")
	return provider.Finding{Check: check, Verdict: provider.Unknown, Message: message, Hint: cmp.Or(hint, "correct --charts")}
}

// fetchAll returns the checksums of addons by key, and why others have none, in their order.
func fetchAll(addons []addon.Addon, fetch func(addon.Addon) (string, error)) (map[string]string, []provider.Finding) {
	sums, errs := make([]string, len(addons)), make([]error, len(addons))
	slots := make(chan struct{}, fetchesAtOnce)
	var group sync.WaitGroup
	for i, a := range addons {
		group.Go(func() {
			slots <- struct{}{}
			sums[i], errs[i] = fetch(a)
			<-slots
		})
	}
	group.Wait()
	digests, failed := map[string]string{}, []provider.Finding(nil)
	for i, a := range addons {
		switch {
		case errs[i] != nil:
			failed = append(failed, unfetched("source of "+a.Key, errs[i]))
		case sums[i] != "":
			digests[a.Key] = sums[i]
		}
	}
	return digests, failed
}
