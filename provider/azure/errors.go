// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	reasonPolicy = "PolicyRefused"

	hintRole = "assign the role of docs/getting-started/azure.md to the credentials of the ProviderConfig"
)

// meanings returns what the codes mean that name a definite cause.
func meanings() cloud.Meanings {
	all := cloud.Meanings{}
	all.Add(cloud.CredentialsRefused(),
		"InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant", "AuthenticationFailed", "ExpiredAuthenticationToken", "InvalidAuthenticationInfo")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, hintRole), "AuthorizationFailed", "LinkedAuthorizationFailed", "LinkedAccessCheckFailed", "Forbidden")
	all.Add(cloud.Means(provider.Unauthorized, reasonPolicy, "change the policy, or ask its administrator for an exemption"), "RequestDisallowedByPolicy", "ResourceGroupManagedByPolicy")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPlatformRefused, "remove the lock, or ask its administrator"), "ScopeLocked")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPlatformRefused, "accept the terms of the image for the subscription: az vm image terms accept --urn URN"),
		"ResourcePurchaseValidationFailed", "MarketplacePurchaseEligibilityFailed")
	all.Add(cloud.Throttled(), "TooManyRequests", "OperationNotAllowedOnThrottledSubscription", "SubscriptionRequestsThrottled")
	all.Add(cloud.TryAgain(), "ServerTimeout", "InternalServerError", "ServiceUnavailable", "GatewayTimeout", "NetworkingInternalOperationError", "InternalExecutionError", "InternalOperationError")
	all.Add(cloud.NoCapacity(), "SkuNotAvailable", "AllocationFailed", "ZonalAllocationFailed", "OverconstrainedAllocationRequest", "OverconstrainedZonalAllocationRequest")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the subscription in this location, or remove something"),
		"QuotaExceeded", "PublicIPCountLimitReached", "StandardSkuPublicIPCountLimitReached", "LoadBalancerCountLimitReached", "MaxSecurityRulesPerNSGExceeded", "ResourceQuotaExceeded")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "free addresses, or set another subnet in spec.azure.subnetName"), "SubnetIsFull")
	all.Add(cloud.Busy(),
		"AnotherOperationInProgress", "RetryableError", "RetryableErrorDueToAnotherOperation", "ReferencedResourceNotProvisioned", "Conflict", "OperationPreempted", "OperationNotAllowedOnVMImageAsVMsBeingProvisioned",
		"PreconditionFailed", "ConditionNotMet", "ResourceGroupBeingDeleted", "NicReservedForAnotherVm", "NicInUse", "InUseLoadBalancer", "PublicIPAddressCannotBeDeleted", "PublicIPAddressInUse",
		"InUsePublicIpAddressCannotBeDeleted", "InUseNetworkSecurityGroupCannotBeDeleted", "SecurityRuleConflict", "DiskIsAttachedToVM", "AttachDiskWhileBeingDetached", "CanceledAndSupersededDueToAnotherOperation")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonImageNotFound, hintImage), "ImageNotFound", "GalleryImageNotFound", "PlatformImageNotFound", "CommunityGalleryImageNotFound", "VMImageNotFound", "ArtifactNotFound")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonNetworkNotFound, "correct spec.azure.vnetName, spec.azure.subnetName or spec.azure.securityGroupName"), "InvalidResourceReference", "SubnetNotFound")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonNotFound, "correct spec.azure.subscriptionID and spec.azure.resourceGroup"), "SubscriptionNotFound", "InvalidSubscriptionId", "ResourceGroupNotFound", "MissingSubscription")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonPlatformRefused, "register the resource provider that the message names in the subscription"), "MissingSubscriptionRegistration")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonPlatformRefused, "correct spec.azure.location, or register the resource provider that the message names in the subscription"),
		"NoRegisteredProviderFound", "LocationNotAvailableForResourceType", "InvalidLocation")
	return all
}

// body is how the resource manager and the token endpoint answer what they refuse.
type body struct {
	Code    string
	Message string
}

func bodyOf(r *http.Response) (b body) {
	content, err := runtime.Payload(r)
	if err != nil {
		return b
	}
	var manager struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(content, &manager) == nil && manager.Error.Code != "" {
		return body(manager.Error)
	}
	var issuer struct {
		Error       string
		Description string `json:"error_description"`
	}
	if json.Unmarshal(content, &issuer) == nil {
		b = body{issuer.Error, issuer.Description}
	}
	return b
}

// apiError maps an error of the SDK to a Kind.
func apiError(op string, err error) error { return cloud.Translate(op, err, meant, cause) }

// meant is what an error of the SDK means.
func meant(err error) cloud.Meaning {
	said, answered := errors.AsType[*azcore.ResponseError](err)
	login, refused := errors.AsType[*azidentity.AuthenticationFailedError](err)
	switch {
	case refused:
		return loginMeaning(login.RawResponse)
	case answered:
		return meaningOf(said, cause(err).Error())
	case errtext.Untrusted(err):
		return cloud.Uncertified("spec.azure.endpoint")
	case unreadable(err):
		return foreign()
	}
	return cloud.Unreached("Azure")
}

func foreign() cloud.Meaning { return cloud.Foreign("spec.azure.endpoint", "Azure") }

// meaningOf is that of an answer of the resource manager.
func meaningOf(said *azcore.ResponseError, text string) cloud.Meaning {
	m, ok := meanings()[codeOf(said)]
	switch {
	case quota(said, text):
		return meanings()["QuotaExceeded"]
	case ok && m.Reason == provider.ReasonPermissionDenied:
		if found := action.FindStringSubmatch(text); found != nil {
			m.Hint = "grant " + found[1] + "; " + hintRole
		}
		return m
	case ok:
		return m
	case said.StatusCode == http.StatusTooManyRequests:
		return cloud.Throttled()
	case said.StatusCode >= 500:
		return cloud.TryAgain()
	case said.StatusCode == http.StatusPreconditionFailed, said.StatusCode == http.StatusConflict:
		return cloud.Busy()
	case codeOf(said) == "" || bodyOf(said.RawResponse).Code == "":
		return foreign()
	case missing(said):
		return cloud.NotFound()
	case said.StatusCode == http.StatusUnauthorized:
		return cloud.CredentialsRefused()
	case said.StatusCode == http.StatusForbidden:
		return cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, hintRole)
	}
	return cloud.Refused()
}

// action finds the action that the credentials lack. A refusal of a linked resource names
// before it one that they have.
var action = regexp.MustCompile(`does not have (?:permission|authorization) to perform action(?:\(s\))? '([^']+)'`)

// quota recognises the code with which the compute service also refuses other things.
func quota(said *azcore.ResponseError, text string) bool {
	return said.ErrorCode == "OperationNotAllowed" && strings.Contains(strings.ToLower(text), "quota")
}

// loginMeaning is that of an answer of the token endpoint; nil means that none came.
func loginMeaning(r *http.Response) cloud.Meaning {
	switch {
	case r == nil:
		return cloud.Means(provider.Unavailable, provider.ReasonPlatformUnavailable, "check that the issuer of tokens, spec.azure.authorityHost, can be reached from here; it is retried")
	case r.StatusCode == http.StatusTooManyRequests:
		return cloud.Throttled()
	case r.StatusCode >= 500:
		return cloud.TryAgain()
	case bodyOf(r).Code == "":
		return cloud.Means(provider.Invalid, provider.ReasonEndpointForeign, "correct spec.azure.authorityHost: what answers there does not issue tokens")
	}
	return cloud.CredentialsRefused()
}

func codeOf(said *azcore.ResponseError) string {
	if b := bodyOf(said.RawResponse); b.Code != "" {
		return b.Code
	}
	return said.ErrorCode
}

// missing reports whether an answer says that the object itself does not exist: what it is
// in is another matter.
func missing(said *azcore.ResponseError) bool {
	code := codeOf(said)
	return said.StatusCode == http.StatusNotFound && code != "" && code != "ResourceGroupNotFound" && code != "SubscriptionNotFound" && code != "ParentResourceNotFound"
}

// gone reports whether Azure does not know the object that a call names.
func gone(err error) bool {
	said, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && missing(said)
}

// notFound reports whether Azure knows neither the object nor what it is in, apart from the
// resource group.
func notFound(err error) bool {
	said, ok := errors.AsType[*azcore.ResponseError](err)
	return gone(err) || ok && codeOf(said) == "ParentResourceNotFound"
}

// taken reports whether an object exists that a call was to create.
func taken(err error) bool {
	said, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && said.StatusCode == http.StatusPreconditionFailed
}

// forbidden reports whether the credentials do not suffice for a call.
func forbidden(err error) bool {
	return provider.ReasonOf(apiError("", err)) == provider.ReasonPermissionDenied
}

// busy reports whether a call is to be repeated because of another one.
func busy(err error) bool { return provider.ReasonOf(err) == provider.ReasonPlatformConflict }

// unreadable reports whether an answer came that is none of Azure.
func unreadable(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}

// varying is the part of a refusal that differs from answer to answer.
var varying = regexp.MustCompile(`(?i)[\s.,]*\(?(trace id|correlation ?id|request ?id|client request id|timestamp|activity ?id|operation id|tracking id)\W+[0-9a-z][0-9a-z:. -]*[0-9a-z]\)?|\s*'\d{1,2}/\d{1,2}/\d{4} [^']*'`)

// cause is what Azure said, without ids and times; else what the network said.
func cause(err error) error {
	var answer *http.Response
	if said, ok := errors.AsType[*azcore.ResponseError](err); ok {
		answer = said.RawResponse
	}
	if login, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok {
		if answer = login.RawResponse; answer == nil {
			return errors.New("no token was issued: " + stable(errtext.Stable(login).Error()))
		}
	}
	if answer == nil {
		return errtext.Stable(err)
	}
	if b := bodyOf(answer); b.Code != "" {
		return fmt.Errorf("%s: %s", b.Code, stable(b.Message))
	}
	return fmt.Errorf("the response with status %d is not from Azure", answer.StatusCode)
}

// stable keeps the first line of a text, without what differs from answer to answer.
func stable(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text, _, _ = strings.Cut(text, " To troubleshoot, visit")
	return strings.TrimRight(varying.ReplaceAllString(strings.TrimSpace(text), ""), " .")
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error {
	return cloud.WithOp(op, apiError(op, err))
}

// connectError adds what to check when the first request fails.
func connectError(op string, err error) error {
	mapped := apiError(op, err)
	e, ok := errors.AsType[*provider.Error](mapped)
	if !ok {
		return mapped
	}
	e.Op = op
	_, answered := errors.AsType[*azcore.ResponseError](err)
	if _, login := errors.AsType[*azidentity.AuthenticationFailedError](err); e.Reason == provider.ReasonPlatformUnavailable && !answered && !login {
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.azure.endpoint and spec.azure.authorityHost, and that Azure can be reached from here; it is retried"
	}
	if _, unnamed := errors.AsType[*net.DNSError](err); unnamed {
		e.Reason = provider.ReasonPlatformUnreachable
	}
	return mapped
}
