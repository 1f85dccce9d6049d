// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/registry"
	"github.com/butlerdotdev/butler/provider"
)

// TestRegistriesAreAskedForImages: only an answer of the registry refuses a cluster, and it
// says what to do.
func TestRegistriesAreAskedForImages(t *testing.T) {
	cases := map[string]struct {
		status int
		want   provider.Verdict
	}{
		"the image is there":        {http.StatusOK, provider.Passed},
		"the image is not there":    {http.StatusNotFound, provider.Refused},
		"without credentials":       {http.StatusUnauthorized, provider.Refused},
		"as GitHub denies":          {http.StatusForbidden, provider.Refused},
		"the registry has trouble":  {http.StatusServiceUnavailable, provider.Unknown},
		"the registry is throttled": {http.StatusTooManyRequests, provider.Unknown},
		"no registry":               {0, provider.Unknown},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v2/" {
					return
				}
				w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
				w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("a", 64))
				w.Header().Set("Content-Length", "1")
				w.WriteHeader(c.status)
			}))
			defer far.Close()
			if c.status == 0 {
				far.Close()
			}
			anonymous := func(string) (registry.Options, error) { return registry.Options{Anonymous: true}, nil }
			images := []string{strings.TrimPrefix(far.URL, "http://") + "/mine/butler-controller:v1.2.3"}
			f := imageFinding(images, askForImages(t.Context(), anonymous, images))
			if f.Verdict != c.want {
				t.Fatalf("finding %+v, want %s", f, c.want)
			}
			if c.want != provider.Passed && !strings.Contains(f.Message, images[0]) {
				t.Errorf("the message %q does not name the image", f.Message)
			}
			if way := strings.Contains(f.Hint, "images push") && strings.Contains(f.Hint, "enabled to false"); way != (c.want == provider.Refused) {
				t.Errorf("the hint is %q", f.Hint)
			}
		})
	}
}

func TestOneMissingImageRefusesAll(t *testing.T) {
	f := imageFinding([]string{"a", "b", "c"}, []error{nil, &registry.Refusal{Status: http.StatusNotFound}, errors.Join(context.DeadlineExceeded)})
	if f.Verdict != provider.Refused || !strings.Contains(f.Message, "b: ") || strings.Contains(f.Message, "a: ") {
		t.Errorf("finding %+v", f)
	}
}
