// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	reasonEndpoint  = "EndpointInvalid"
	reasonRange     = "VMIDRangeExhausted"
	reasonName      = "NameInvalid"
	reasonNoISO     = "ISOStorageMissing"
	reasonStorage   = "StorageNotFound"
	hintAgain       = "it is retried"
	hintCredentials = "renew the token or the password in the Secret of the ProviderConfig"
	hintPermission  = "grant it, see docs/getting-started/proxmox.md; a token with privilege separation needs it besides its user"
)

// errForeign is the answer of a server that is no Proxmox VE.
var errForeign = errors.New("the response is not from Proxmox VE")

// answerError is an answer that refuses a call.
type answerError struct {
	status int
	text   string
}

// Error returns what Proxmox VE said.
func (e *answerError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("the response has status %d", e.status)
	}
	return e.text
}

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 20

// answers turns refusals into errors with all that they say: the SDK keeps the status line.
type answers struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK && strings.Contains(answer.Header.Get("Content-Type"), "json") {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, mostAnswer), answer.Body}
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < http.StatusBadRequest {
		return nil, errForeign
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	return nil, refusal(answer, body)
}

// refusal reads the status line, in which Proxmox VE says what is wrong, and the errors of
// single parameters.
func refusal(answer *http.Response, body []byte) error {
	var said struct {
		Message string            `json:"message"`
		Errors  map[string]string `json:"errors"`
	}
	known := json.Unmarshal(body, &said) == nil
	_, reason, _ := strings.Cut(answer.Status, " ")
	if reason == http.StatusText(answer.StatusCode) {
		reason = ""
	}
	text := strings.TrimSpace(said.Message)
	if text == "" {
		text = strings.TrimSpace(reason)
	}
	var parts []string
	for name, wrong := range said.Errors {
		parts = append(parts, name+": "+strings.TrimSpace(wrong))
	}
	if slices.Sort(parts); len(parts) > 0 {
		text = strings.TrimPrefix(strings.TrimSuffix(text, ".")+": "+strings.Join(parts, ", "), ": ")
	}
	if !known && text == "" && answer.StatusCode < http.StatusInternalServerError {
		return errForeign
	}
	return &answerError{answer.StatusCode, text}
}

// meaning is what an answer or the end of a task means for the reconciler.
type meaning struct {
	kind         provider.Kind
	reason, hint string
}

// phrase is a text and what it means.
type phrase struct {
	text *regexp.Regexp
	meaning
}

// phrases have a meaning of their own: Proxmox VE answers almost everything with status 500,
// and a task ends with a text.
var phrases = []phrase{
	{regexp.MustCompile(`(?i)permission check failed|permission denied`), meaning{provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission}},
	{regexp.MustCompile(`(?i)no space left|reached threshold|not enough|insufficient|out of space|quota|unable to allocate|cannot allocate memory|exceed`),
		meaning{provider.Exhausted, provider.ReasonCapacityExhausted, "free memory or space on the node and its storage, or add a node to spec.proxmox.nodes"}},
	{regexp.MustCompile(`(?i)is locked|can't lock file|got lock|trying to acquire`), meaning{provider.Unavailable, provider.ReasonPlatformConflict, "it is retried when the lock is gone; remove a stale one with qm unlock"}},
	{regexp.MustCompile(`(?i)checksum mismatch|unexpected state change`), meaning{provider.Unavailable, provider.ReasonPlatformConflict, hintAgain}},
	{unknownNode, meaning{provider.Invalid, provider.ReasonNotFound, "correct spec.proxmox.nodes"}},
	{regexp.MustCompile(`(?i)no quorum|cluster not ready`), meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, "the cluster has no quorum: start its nodes; it is retried"}},
	{regexp.MustCompile(`(?i)timeout|timed out|not online|no route to host|too many|connection refused`), meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, "check node and storage; it is retried"}},
	{regexp.MustCompile(`(?i)protection mode`), meaning{provider.InUse, provider.ReasonDeletionRefused, "switch off the protection of the VM"}},
	{regexp.MustCompile(`(?i)bridge '?[^' ]+'? does not exist|no such bridge`), meaning{provider.Invalid, provider.ReasonNetworkNotFound, "correct spec.proxmox.bridge, or create it on every node"}},
	{regexp.MustCompile(`(?i)storage '?[^' ]+'? (does not exist|is not available|is disabled|does not support)|no such storage`), meaning{provider.Invalid, reasonStorage, "correct spec.proxmox.storage"}},
}

func meant(text string) (meaning, bool) {
	for _, p := range phrases {
		if p.text.MatchString(text) {
			return p.meaning, true
		}
	}
	return meaning{}, false
}

// answered is what an answer means.
func answered(said *answerError) meaning {
	known, found := meant(said.text)
	switch {
	case said.status == http.StatusUnauthorized:
		return meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials}
	case said.status == http.StatusForbidden:
		return meaning{provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission}
	case unknownNode.MatchString(said.text):
		return known
	case said.status == http.StatusTooManyRequests:
		return meaning{provider.Unavailable, provider.ReasonPlatformThrottled, hintAgain}
	case said.status >= 502: // 595 and 596: another node does not answer
		return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain}
	case found:
		return known
	case missing(said):
		return meaning{provider.Invalid, provider.ReasonNotFound, "correct the field that the message names"}
	case said.status == http.StatusNotImplemented, said.status == http.StatusNotFound:
		return meaning{provider.Invalid, provider.ReasonEndpointForeign, "correct spec.proxmox.endpoint"}
	case said.status == http.StatusBadRequest:
		return meaning{provider.Invalid, provider.ReasonPlatformRefused, "correct the field that the message names"}
	}
	return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain}
}

// apiError maps an error of a request to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done || err == nil {
		return err
	}
	e := &provider.Error{Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnavailable, Op: op, Err: cause(err), Hint: hintAgain}
	set := func(m meaning) error { e.Kind, e.Reason, e.Hint = m.kind, m.reason, m.hint; return e }
	if said, ok := errors.AsType[*answerError](err); ok {
		return set(answered(said))
	}
	switch {
	case errors.Is(err, errFingerprint):
		return set(meaning{provider.Invalid, provider.ReasonCertificateRefused, "correct spec.proxmox.endpoint, or the key fingerprint of the Secret"})
	case errors.Is(err, errSecondFactor):
		return set(meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, "use an API token instead of the password"})
	case errtext.Untrusted(err):
		return set(meaning{provider.Invalid, provider.ReasonCertificateRefused, "set the authority of the cluster (/etc/pve/pve-root-ca.pem) in the key caBundle of the Secret, or the key fingerprint"})
	case errors.Is(err, errForeign), foreignText(err):
		return set(meaning{provider.Invalid, provider.ReasonEndpointForeign, "correct spec.proxmox.endpoint: the API listens on port " + apiPort})
	}
	return e
}

// foreignText reports whether an answer is no JSON, or no TLS.
func foreignText(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind || strings.Contains(err.Error(), "gave HTTP response to HTTPS client")
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error { return cloud.WithOp(op, apiError(op, err)) }

// forbidden reports whether a privilege is missing.
func forbidden(err error) bool {
	return err != nil && provider.ReasonOf(apiError("", err)) == provider.ReasonPermissionDenied
}

// gone reports whether the platform does not know the VM, volume or task of a call.
func gone(err error) bool {
	said, ok := errors.AsType[*answerError](err)
	return ok && missing(said)
}

func missing(said *answerError) bool {
	return said.status >= http.StatusBadRequest && absent.MatchString(said.text)
}

var (
	unknownNode = regexp.MustCompile(`(?i)hostname lookup '[^']+' failed|no such cluster node`)

	absent  = regexp.MustCompile(`(?i)does not exist|no such (vm|task|volume|file)|unable to find`)
	existed = regexp.MustCompile(`(?i)already exists|file exists|existing config`)
	// varying are what differs from try to try: tasks, and names of temporary files.
	varying = regexp.MustCompile(`UPID:\S+|\.tmp\.\d+|\bpid \d+`)
)

// taken reports whether a VM with the ID exists.
func taken(err error) bool {
	said, ok := errors.AsType[*answerError](err)
	return ok && existed.MatchString(said.text)
}

// cause is what Proxmox VE said; else what the network said.
func cause(err error) error {
	if said, ok := errors.AsType[*answerError](err); ok {
		return errors.New(stable(said.Error()))
	}
	for _, known := range []error{errForeign, errFingerprint, errSecondFactor, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	if foreignText(err) {
		return errForeign
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return errtext.Stable(err)
}

func stable(text string) string {
	return strings.TrimSpace(varying.ReplaceAllString(strings.Join(strings.Fields(text), " "), "…"))
}

// connectError adds what to check when the first request fails.
func connectError(op string, err error) error {
	mapped := apiError(op, err)
	e, ok := errors.AsType[*provider.Error](mapped)
	if !ok {
		return mapped
	}
	e.Op = op
	if _, dialled := errors.AsType[net.Error](err); dialled && e.Reason == provider.ReasonPlatformUnavailable {
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.proxmox.endpoint and its port ("+apiPort+"), and that it can be reached from here; it is retried"
	}
	return mapped
}
