// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/api/googleapi"
	"google.golang.org/protobuf/proto"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	hintUnavailable = "check that Google Cloud can be reached from here; it is tried again"
	hintCredentials = "renew the credentials in the Secret of the ProviderConfig"
	hintPermission  = "grant it to the credentials of the ProviderConfig, see docs/getting-started/gcp.md"
	hintAgain       = "it is tried again"
)

// errForeign is the answer of a server that is none of Google Cloud.
var errForeign = errors.New("the answer is none of Google Cloud")

// meaning is what a code of Google Cloud means for the reconciler.
type meaning struct {
	kind         provider.Kind
	reason, hint string
}

// meanings returns what the codes mean that name a definite cause, without case and
// underscores: answers have reasons such as quotaExceeded, operations codes such as
// QUOTA_EXCEEDED.
func meanings() map[string]meaning {
	all := map[string]meaning{}
	add := func(m meaning, codes ...string) {
		for _, c := range codes {
			all[c] = m
		}
	}
	add(meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials}, "autherror", "required", "accountdisabled", "invalidgrant", "invalidclient", "unauthorizedclient", "unauthenticated")
	add(meaning{provider.Unauthorized, provider.ReasonPermissionDenied, "enable the Compute Engine API of the project"}, "accessnotconfigured", "servicedisabled")
	add(meaning{provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission}, "forbidden", "insufficientpermissions", "permissionserror", "permissiondenied", "serviceaccountaccessdenied")
	add(meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain},
		"ratelimitexceeded", "userratelimitexceeded", "dailylimitexceeded", "concurrentlimitexceeded", "resourceexhausted", "internalerror", "backenderror", "resourceoperationrateexceeded")
	add(meaning{provider.Exhausted, provider.ReasonCapacityExhausted, "another zone is tried next, if there is one"},
		"zoneresourcepoolexhausted", "zoneresourcepoolexhaustedwithdetails", "regionresourcepoolexhausted", "resourcepoolexhausted", "stockout")
	add(meaning{provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the project, or remove something"}, "quotaexceeded", "limitexceeded")
	add(meaning{provider.Exhausted, provider.ReasonQuotaExceeded, "free addresses, extend the range of the subnetwork, or set another one in spec.gcp.subnetwork"}, "ipspaceexhausted", "ipspaceexhaustedwithdetails")
	add(meaning{provider.Unavailable, provider.ReasonPlatformConflict, hintAgain},
		"resourcenotready", "resourceinusebyanotherresource", "resourceinuse", "conditionnotmet", "conflict", "operationinprogress", "staleresource")
	add(meaning{provider.Conflict, provider.ReasonNameTaken, "remove it, or choose another name"}, "alreadyexists", "resourcealreadyexists")
	add(meaning{provider.Invalid, provider.ReasonNotFound, "correct what it names"}, "notfound", "resourcenotfound")
	return all
}

// meant returns what the first code means that has a meaning.
func meant(codes ...string) (meaning, bool) {
	for _, c := range codes {
		if m, ok := meanings()[strings.ToLower(strings.ReplaceAll(c, "_", ""))]; ok {
			return m, true
		}
	}
	return meaning{}, false
}

// apiError maps an error of the SDK, or of a token endpoint, to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done || err == nil {
		return err
	}
	e := &provider.Error{Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnavailable, Op: op, Err: cause(err), Hint: hintUnavailable}
	set := func(m meaning) error { e.Kind, e.Reason, e.Hint = m.kind, m.reason, m.hint; return e }
	if said, ok := errors.AsType[*googleapi.Error](err); ok {
		return set(answered(said))
	}
	if said, ok := errors.AsType[*tokenError](err); ok {
		return set(untrusted(said))
	}
	switch {
	case errors.Is(err, errForeign), errors.Is(err, proto.Error):
		return set(foreign())
	case errtext.Untrusted(err):
		return set(meaning{provider.Invalid, provider.ReasonCertificateRefused, "correct spec.gcp.endpoint, or set its authority in the key caBundle of the Secret"})
	}
	return e
}

func foreign() meaning {
	return meaning{provider.Invalid, provider.ReasonEndpointForeign, "correct spec.gcp.endpoint: what answers there is not Google Cloud"}
}

// answered is what an answer with an error means: by its reason, else by its status.
func answered(said *googleapi.Error) meaning {
	if m, ok := meant(codesOf(said)...); ok && said.Code < http.StatusInternalServerError {
		return m
	}
	switch {
	case said.Code >= http.StatusInternalServerError, said.Code == http.StatusTooManyRequests, said.Code == http.StatusRequestTimeout:
		return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain}
	case said.Message == "" && len(said.Errors) == 0:
		return foreign()
	case said.Code == http.StatusUnauthorized:
		return meanings()["autherror"]
	case said.Code == http.StatusForbidden:
		return meanings()["forbidden"]
	case said.Code == http.StatusNotFound:
		return meanings()["notfound"]
	case said.Code == http.StatusConflict, said.Code == http.StatusPreconditionFailed:
		return meanings()["conflict"]
	}
	return meaning{provider.Invalid, provider.ReasonPlatformRefused, "correct what it names"}
}

// codesOf returns the reasons of an answer.
func codesOf(said *googleapi.Error) (all []string) {
	for _, d := range said.Details {
		if info, ok := d.(map[string]any); ok {
			if reason, ok := info["reason"].(string); ok {
				all = append(all, reason)
			}
		}
	}
	for _, e := range said.Errors {
		all = append(all, e.Reason)
	}
	return all
}

// untrusted is what the refusal of a token endpoint means.
func untrusted(said *tokenError) meaning {
	switch {
	case said.status >= http.StatusInternalServerError, said.status == http.StatusTooManyRequests:
		return meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, hintAgain}
	case said.status == http.StatusForbidden:
		return meaning{provider.Unauthorized, provider.ReasonPermissionDenied, "let the federated identity impersonate the service account (roles/iam.workloadIdentityUser)"}
	case said.code == "" && said.reason == "":
		return foreign()
	}
	return meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials}
}

// coded reports whether an answer has one of the reasons, written as in meanings.
func coded(err error, codes ...string) bool {
	said, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return false
	}
	for _, have := range codesOf(said) {
		for _, c := range codes {
			if strings.EqualFold(strings.ReplaceAll(have, "_", ""), c) {
				return true
			}
		}
	}
	return false
}

// gone reports whether the platform does not know the object that a call names.
func gone(err error) bool {
	said, ok := errors.AsType[*googleapi.Error](err)
	return ok && said.Code == http.StatusNotFound
}

// exists reports whether the platform has an object of that name already.
func exists(err error) bool { return coded(err, "alreadyexists", "resourcealreadyexists") }

// unready reports whether another operation has to end first.
func unready(err error) bool {
	return coded(err, "resourcenotready", "resourceinusebyanotherresource", "resourceinuse", "operationinprogress")
}

// cause is what Google Cloud said; else what the network said.
func cause(err error) error {
	if said, ok := errors.AsType[*googleapi.Error](err); ok {
		if said.Message == "" {
			return fmt.Errorf("the answer has status %d", said.Code)
		}
		return errors.New(said.Message)
	}
	if said, ok := errors.AsType[*tokenError](err); ok {
		return said
	}
	if errors.Is(err, proto.Error) || errors.Is(err, errForeign) {
		return errForeign
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return errtext.Stable(err)
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
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.gcp.endpoint, and that Google Cloud can be reached from here; it is tried again"
	}
	if e.Reason == provider.ReasonNotFound {
		e.Hint = "correct spec.gcp.projectID, or use credentials that may read the project"
	}
	return mapped
}
