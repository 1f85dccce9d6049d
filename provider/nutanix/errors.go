// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	hintUnavailable = "check that Prism Central can be reached from here; it is retried"
	hintCredentials = "correct the credentials in the Secret of the ProviderConfig"
	hintPermission  = "grant it to the user of the ProviderConfig, see docs/getting-started/nutanix.md"
	hintAgain       = "it is retried"
	hintCapacity    = "free resources of the cluster or of the project, or request less; it is retried"
	hintCorrect     = "correct the field that the message names"
	hintEndpoint    = "correct spec.nutanix.endpoint and spec.nutanix.port: what answers there does not serve the API v3 of Prism Central"
)

// meaning is what an answer means for the reconciler.
type meaning struct {
	kind         provider.Kind
	reason, hint string
}

// shortage finds the refusals for want of resources: the API has no code of its own for them.
var shortage = regexp.MustCompile(`(?i)insufficient|not enough|no (host|resources?) |quota|(resource|memory|vcpu|storage) limit|limit (is )?(reached|exceeded)|exhausted|out of (memory|space|capacity)`)

// apiError maps an error of a call to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done || err == nil {
		return err
	}
	m := meant(err)
	return m.kind.New(op, m.reason, cause(err), m.hint)
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error { return cloud.WithOp(op, apiError(op, err)) }

// meant is what an error means.
func meant(err error) meaning {
	if said, ok := errors.AsType[*refusal](err); ok {
		return answered(said)
	}
	switch {
	case errors.Is(err, errForeign):
		return meaning{provider.Invalid, provider.ReasonEndpointForeign, hintEndpoint}
	case errtext.Untrusted(err):
		return meaning{provider.Invalid, provider.ReasonCertificateRefused, "set the authority of Prism Central in the key caBundle of the Secret, or set spec.nutanix.insecure"}
	}
	return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintUnavailable}
}

// answered is what an answer with an error means.
func answered(said *refusal) meaning {
	switch code := said.status; {
	case code == http.StatusUnauthorized:
		return meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials}
	case code == http.StatusForbidden:
		return meaning{provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission}
	case code == http.StatusTooManyRequests:
		return meaning{provider.Unavailable, provider.ReasonPlatformThrottled, hintAgain}
	case code >= http.StatusInternalServerError, code == http.StatusRequestTimeout:
		return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain}
	case len(said.said) == 0:
		return meaning{provider.Invalid, provider.ReasonEndpointForeign, hintEndpoint}
	case shortage.MatchString(said.Error()):
		return meaning{provider.Exhausted, provider.ReasonCapacityExhausted, hintCapacity}
	case code == http.StatusConflict:
		return meaning{provider.Unavailable, provider.ReasonPlatformConflict, hintAgain}
	case code == http.StatusNotFound:
		return meaning{provider.Invalid, provider.ReasonNotFound, hintCorrect}
	}
	return meaning{provider.Invalid, provider.ReasonPlatformRefused, hintCorrect}
}

// cause is what Prism Central said; else what the network said.
func cause(err error) error {
	if said, ok := errors.AsType[*refusal](err); ok {
		return said
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return errtext.Stable(err)
}

// connectError adds what to check when the first request fails.
func connectError(op string, err error) error {
	mapped := within(op, err)
	e, ok := errors.AsType[*provider.Error](mapped)
	if !ok {
		return mapped
	}
	switch code := status(err); {
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusMethodNotAllowed:
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonEndpointForeign, hintEndpoint
	case code == 0 && e.Reason == provider.ReasonPlatformUnavailable:
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.nutanix.endpoint, spec.nutanix.port and the network; it is retried"
	}
	return mapped
}
