// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestCredentialsAndUserDataCannotBePrinted(t *testing.T) {
	type hidden struct{ inner Credentials }
	credentials := NewCredentials(map[string][]byte{"password": []byte("canary")})
	spec := MachineSpec{UserData: "canary", NetworkData: "canary"}
	values := []any{
		credentials, &credentials, hidden{credentials}, Config{ProviderConfig: &v1alpha1.ProviderConfig{}, Credentials: credentials},
		spec, &spec, Sensitive("canary"),
	}
	digits := strings.Trim(fmt.Sprintf("%d", []byte("canary")), "[]")
	hex := fmt.Sprintf("%x", "canary")
	for _, v := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb, v)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Errorf("marshal %T: %v", v, err)
		}
		out.Write(data)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		for _, leak := range []string{"canary", digits, hex} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("%T leaks: %s", v, out.String())
			}
		}
	}
}

func TestCredentialsAreReadByTheFirstKeyThatHasAValue(t *testing.T) {
	c := NewCredentials(map[string][]byte{"tokenId": []byte("b"), "empty": nil})
	if got := string(c.Get("token", "empty", "tokenId")); got != "b" {
		t.Errorf("got %q", got)
	}
	if c.Get("token") != nil || c.Empty() || !(Credentials{}).Empty() || (Credentials{}).Get("x") != nil {
		t.Error("missing keys and empty credentials must have no value")
	}
}

func TestErrorSaysWhatWasTriedWhatWasSaidAndWhatToDo(t *testing.T) {
	e := &Error{Kind: Invalid, Reason: "ImageNotFound", Op: `create machine "a"`, Err: errors.New("image not found"), Hint: "upload it"}
	if got := e.Error(); got != `create machine "a": image not found; upload it` {
		t.Errorf("got %q", got)
	}
	if got := (&Error{Op: "list", Hint: "name one"}).Error(); got != "list; name one" {
		t.Errorf("got %q", got)
	}
	wrapped := fmt.Errorf("outer: %w", e)
	if KindOf(wrapped) != Invalid || ReasonOf(wrapped) != "ImageNotFound" {
		t.Errorf("%s %s", KindOf(wrapped), ReasonOf(wrapped))
	}
	if other := errors.New("boom"); KindOf(other) != Unavailable || ReasonOf(other) != "PlatformUnavailable" {
		t.Errorf("%s %s", KindOf(other), ReasonOf(other))
	}
}

func TestTransportSendsEveryByteThroughItsDialer(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	refused := errors.New("not in this network")
	var dialled []string
	transport := Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return nil, refused
	}}
	response, err := transport.HTTPClient(nil).Get("https://platform.example/token")
	if err == nil {
		response.Body.Close()
	}
	if !errors.Is(err, refused) || len(dialled) != 1 || dialled[0] != "platform.example:443" {
		t.Errorf("dialled %v: %v", dialled, err)
	}
	if u, err := transport.Proxy(&http.Request{}); u != nil || err != nil {
		t.Errorf("proxy is %v, %v", u, err)
	}
}

func TestTheClientNamesTheAgentUnlessTheRequestNamesAnother(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.UserAgent()) }))
	defer s.Close()
	c := Transport{Agent: "butler-test/v1 (0a1b2c3d)"}.HTTPClient(nil)
	for _, own := range []string{"", "sdk/2"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if own != "" {
			r.Header.Set("User-Agent", own)
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if len(seen) != 2 || seen[0] != "butler-test/v1 (0a1b2c3d)" || seen[1] != "sdk/2" {
		t.Errorf("the server saw %q", seen)
	}
}
