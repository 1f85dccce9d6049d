// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// platform is a simulated platform that is not served yet.
type platform interface {
	facade.API
	Open(ctx context.Context) error
}

// Start returns how facade.Platform starts a platform of a name: create creates it with a
// seed, and it is opened.
func Start[S any, P platform](name string, create func(facade.Options, S) (P, error)) func(context.Context, facade.Options) (facade.API, error) {
	return func(ctx context.Context, o facade.Options) (facade.API, error) {
		var seed S
		if len(o.Seed) > 0 {
			if err := json.Unmarshal(o.Seed, &seed); err != nil {
				return nil, fmt.Errorf("seed of simulated %s: %w", name, err)
			}
		}
		p, err := create(o, seed)
		if err != nil {
			return nil, fmt.Errorf("start simulated %s: %w", name, err)
		}
		if err := p.Open(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("start simulated %s: %w", name, err), p.Stop())
		}
		return p, nil
	}
}

// Hosts returns the hosts of endpoints with TLS, and of those without; what is no URL is
// left out.
func Hosts(endpoints ...string) (secure, plain []string) {
	for _, endpoint := range endpoints {
		switch u, err := url.Parse(endpoint); {
		case err != nil || u.Host == "":
		case u.Scheme == "http":
			plain = append(plain, u.Host)
		default:
			secure = append(secure, u.Host)
		}
	}
	return secure, plain
}
