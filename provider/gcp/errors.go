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
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const hintPermission = "grant it to the credentials of the ProviderConfig, see docs/getting-started/gcp.md"

// errForeign is the answer of a server that is none of Google Cloud.
var errForeign = errors.New("the response is not from Google Cloud")

// meanings returns what the codes mean that name a definite cause, without case and
// underscores: answers have reasons such as quotaExceeded, operations codes such as
// QUOTA_EXCEEDED.
func meanings() cloud.Meanings {
	all := cloud.Meanings{}
	all.Add(cloud.CredentialsRefused(), "autherror", "required", "accountdisabled", "invalidgrant", "invalidclient", "unauthorizedclient", "unauthenticated")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, "enable the Compute Engine API of the project"), "accessnotconfigured", "servicedisabled")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission), "forbidden", "insufficientpermissions", "permissionserror", "permissiondenied", "serviceaccountaccessdenied")
	all.Add(cloud.Throttled(),
		"ratelimitexceeded", "userratelimitexceeded", "dailylimitexceeded", "concurrentlimitexceeded", "resourceexhausted", "resourceoperationrateexceeded")
	all.Add(cloud.TryAgain(), "internalerror", "backenderror")
	all.Add(cloud.NoCapacity(),
		"zoneresourcepoolexhausted", "zoneresourcepoolexhaustedwithdetails", "regionresourcepoolexhausted", "resourcepoolexhausted", "stockout")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the project, or remove something"), "quotaexceeded", "limitexceeded")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "free addresses, extend the range of the subnetwork, or set another one in spec.gcp.subnetwork"), "ipspaceexhausted", "ipspaceexhaustedwithdetails")
	all.Add(cloud.Busy(),
		"resourcenotready", "resourceinusebyanotherresource", "resourceinuse", "conditionnotmet", "conflict", "operationinprogress", "staleresource")
	all.Add(cloud.Means(provider.Conflict, provider.ReasonNameTaken, "remove it, or choose another name"), "alreadyexists", "resourcealreadyexists")
	all.Add(cloud.NotFound(), "notfound", "resourcenotfound")
	return all
}

// firstMeaning returns what the first code means that has a meaning.
func firstMeaning(codes ...string) (cloud.Meaning, bool) {
	for _, c := range codes {
		if m, ok := meanings()[strings.ToLower(strings.ReplaceAll(c, "_", ""))]; ok {
			return m, true
		}
	}
	return cloud.Meaning{}, false
}

// apiError maps an error of the SDK, or of a token endpoint, to a Kind.
func apiError(op string, err error) error { return cloud.Translate(op, err, meant, cause) }

// meant is what an error of the SDK, or of a token endpoint, means.
func meant(err error) cloud.Meaning {
	if said, ok := errors.AsType[*googleapi.Error](err); ok {
		return answered(said)
	}
	if said, ok := errors.AsType[*tokenError](err); ok {
		return untrusted(said)
	}
	switch {
	case errors.Is(err, errForeign), errors.Is(err, proto.Error):
		return foreign()
	case errtext.Untrusted(err):
		return cloud.Uncertified("spec.gcp.endpoint")
	}
	return cloud.Unreached("Google Cloud")
}

func foreign() cloud.Meaning { return cloud.Foreign("spec.gcp.endpoint", "Google Cloud") }

// answered is what an answer with an error means: by its reason, else by its status.
func answered(said *googleapi.Error) cloud.Meaning {
	if m, ok := firstMeaning(codesOf(said)...); ok && said.Code < http.StatusInternalServerError {
		return m
	}
	switch {
	case said.Code == http.StatusTooManyRequests:
		return cloud.Throttled()
	case said.Code >= http.StatusInternalServerError, said.Code == http.StatusRequestTimeout:
		return cloud.TryAgain()
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
	return cloud.Refused()
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
func untrusted(said *tokenError) cloud.Meaning {
	switch {
	case said.status == http.StatusTooManyRequests:
		return cloud.Throttled()
	case said.status >= http.StatusInternalServerError:
		return cloud.TryAgain()
	case said.status == http.StatusForbidden:
		return cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, "let the federated identity impersonate the service account (roles/iam.workloadIdentityUser)")
	case said.code == "" && said.reason == "":
		return foreign()
	}
	return cloud.CredentialsRefused()
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
			return fmt.Errorf("the response has status %d", said.Code)
		}
		return errors.New(strings.TrimRight(said.Message, "."))
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
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.gcp.endpoint, and that Google Cloud can be reached from here; it is retried"
	}
	if e.Reason == provider.ReasonNotFound {
		e.Hint = "correct spec.gcp.projectID, or use credentials that may read the project"
	}
	return mapped
}
