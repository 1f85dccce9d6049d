// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package planetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"k8s.io/client-go/rest"
)

// counted are the requests that change objects of this project, or events, in the metrics of an API
// server.
var counted = regexp.MustCompile(`^apiserver_request_total\{.*group="(?:butler\.butlerlabs\.dev|events\.k8s\.io)".*verb="(?:APPLY|DELETE|PATCH|POST|PUT)".*\} (\S+)$`)

// Writes returns how many requests an API server has had that change objects of this project or
// events, by its own metrics.
func Writes(ctx context.Context, config *rest.Config) (n float64, err error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("read the metrics of the API server: %s", response.Status)
	}
	return sumWrites(response.Body)
}

func sumWrites(metrics io.Reader) (n float64, err error) {
	lines := bufio.NewScanner(metrics)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		m := counted.FindSubmatch(lines.Bytes())
		if m == nil {
			continue
		}
		one, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, err
		}
		n += one
	}
	return n, lines.Err()
}
