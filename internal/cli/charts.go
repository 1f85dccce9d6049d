// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// dialer opens connections.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// registerCharts adds the flag that leads addons elsewhere.
func registerCharts(c *cobra.Command, to *string, otherwise string) {
	c.Flags().StringVar(to, "charts", "", "`WHERE` addons come from: a directory, oci://REGISTRY/PATH, or upstream (default: "+otherwise+")")
}

// checkCharts refuses a place that addons cannot come from.
func checkCharts(where string) error {
	if _, err := source.New(source.Options{Charts: where}); err != nil {
		return usage("--charts: %w", err)
	}
	return nil
}

// checkStock refuses a directory that lacks addons of a manifest: nobody would
// put them there while machines wait for them. What is elsewhere may come yet.
func checkStock(ctx context.Context, where string, m *manifest.Manifest) error {
	if where == "" || remote(where) {
		return nil
	}
	addons, err := addonsOf(m)
	if err != nil {
		return err
	}
	stock, err := source.New(source.Options{Charts: where, Carried: charts.FS})
	if err != nil {
		return usage("--charts: %w", err)
	}
	var missing []error
	for _, a := range addons {
		if a.Source.Kind == addon.Objects {
			continue
		}
		if _, err := stock.Fetch(ctx, a, anything); err != nil {
			missing = append(missing, err)
		}
	}
	if err := errors.Join(missing...); err != nil {
		return usage("%w\nbutleradm addons pull fetches what is missing; nothing was changed", err)
	}
	return nil
}

// source is where the addons of the cluster come from.
func (o *operation) source() (*source.Source, error) {
	options := source.Options{Charts: o.charts, Carried: charts.FS}
	if o.rehearsal && !remote(o.charts) {
		var err error
		if options.HTTP, err = simulatedHTTP(o.dial(), o.platform.CA); err != nil {
			return nil, err
		}
	}
	return source.New(options)
}

// remote is a place that a rehearsal, too, reaches over the real network: the
// user has named it.
func remote(where string) bool {
	return where == source.Upstream || strings.HasPrefix(where, "oci://")
}

// simulatedHTTP fetches over the simulated network and no other, from servers
// that have certificates of the usual authorities or of the one in a file.
func simulatedHTTP(dial dialer, ca string) (*http.Client, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if ca != "" {
		data, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read the authority of the stand-ins: %w", err)
		}
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("the authority of the stand-ins: %s holds no certificate", ca)
		}
	}
	return &http.Client{Transport: &http.Transport{
		DialContext:         dial,
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}}, nil
}
