// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/butlerdotdev/butler/provider"
)

// refusal is an answer as the SDK reports it.
func refusal(status int, content string) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPut, "https://management.azure.com/x", nil)
	if err != nil {
		return err
	}
	return runtime.NewResponseError(&http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(content)), Header: http.Header{}, Request: request})
}

func coded(status int, code, message string) error {
	return refusal(status, `{"error":{"code":"`+code+`","message":"`+message+`"}}`)
}

func TestWhatAzureRefusesIsMapped(t *testing.T) {
	for name, c := range map[string]struct {
		err          error
		kind         provider.Kind
		reason, says string
	}{
		"a quota":           {coded(409, "OperationNotAllowed", "Operation could not be completed as it results in exceeding approved Total Regional Cores quota."), provider.Exhausted, provider.ReasonQuotaExceeded, "Total Regional Cores"},
		"another refusal":   {coded(409, "OperationNotAllowed", "The VM is deallocated."), provider.Unavailable, provider.ReasonPlatformConflict, "deallocated"},
		"no capacity":       {coded(409, "ZonalAllocationFailed", "no capacity"), provider.Exhausted, provider.ReasonCapacityExhausted, "next"},
		"no such size here": {coded(409, "SkuNotAvailable", "not available"), provider.Exhausted, provider.ReasonCapacityExhausted, "next"},
		"a missing action":  {coded(403, "AuthorizationFailed", "The client 'x' does not have authorization to perform action 'Microsoft.Compute/virtualMachines/write' over scope '/subscriptions/s'."), provider.Unauthorized, provider.ReasonPermissionDenied, "grant Microsoft.Compute/virtualMachines/write"},
		"a missing link": {coded(403, "LinkedAuthorizationFailed", "The client 'x' has permission to perform action 'Microsoft.Network/networkInterfaces/write' on scope '/a'; however, it does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '/b'."),
			provider.Unauthorized, provider.ReasonPermissionDenied, "grant Microsoft.Network/virtualNetworks/subnets/join/action;"},
		"a link elsewhere": {coded(400, "LinkedAccessCheckFailed", "The client has permission to perform action 'Microsoft.Compute/images/read' on scope '/a', however the current tenant is not authorized to access linked subscription 's'."),
			provider.Unauthorized, provider.ReasonPermissionDenied, hintRole},
		"a policy":           {coded(403, "RequestDisallowedByPolicy", "Resource 'vm' was disallowed by policy."), provider.Unauthorized, reasonPolicy, "exemption"},
		"a lock":             {coded(409, "ScopeLocked", "the scope is locked"), provider.Unauthorized, provider.ReasonPlatformRefused, "lock"},
		"throttled":          {coded(429, "SubscriptionRequestsThrottled", "slow down"), provider.Unavailable, provider.ReasonPlatformThrottled, "retried"},
		"an expired token":   {coded(401, "ExpiredAuthenticationToken", "expired"), provider.Unauthorized, provider.ReasonCredentialsRefused, "renew"},
		"another writer":     {coded(412, "PreconditionFailed", "etag"), provider.Unavailable, provider.ReasonPlatformConflict, "retried"},
		"no resource group":  {coded(404, "ResourceGroupNotFound", "Resource group 'x' could not be found."), provider.Invalid, provider.ReasonNotFound, "spec.azure.resourceGroup"},
		"a full subnet":      {coded(400, "SubnetIsFull", "full"), provider.Exhausted, provider.ReasonQuotaExceeded, "addresses"},
		"an unknown code":    {coded(400, "InvalidParameter", "bad"), provider.Invalid, provider.ReasonPlatformRefused, "InvalidParameter: bad"},
		"no answer of Azure": {refusal(200, "<html>"), provider.Invalid, provider.ReasonEndpointForeign, "is not from Azure"},
		"a proxy that fails": {refusal(502, "<html>"), provider.Unavailable, provider.ReasonPlatformUnavailable, "retried"},
		"no network":         {errors.New("dial tcp: refused"), provider.Unavailable, provider.ReasonPlatformUnavailable, "refused"},
	} {
		got := apiError("try", c.err)
		if provider.KindOf(got) != c.kind || provider.ReasonOf(got) != c.reason || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %s %s: %v", name, provider.KindOf(got), provider.ReasonOf(got), got)
		}
	}
}

// TestAMissingObjectIsNotAMissingGroup: what cannot be found because its group is gone is
// not known to be absent.
func TestAMissingObjectIsNotAMissingGroup(t *testing.T) {
	if !gone(coded(404, "ResourceNotFound", "x")) || !gone(coded(404, "NotFound", "x")) {
		t.Error("a missing object is not recognised")
	}
	for _, code := range []string{"ResourceGroupNotFound", "SubscriptionNotFound", "ParentResourceNotFound"} {
		if gone(coded(404, code, "x")) {
			t.Errorf("%s is taken for a missing object", code)
		}
	}
	if gone(refusal(404, "<html>")) {
		t.Error("a 404 of another server is taken for a missing object")
	}
}

func TestTextsAreTheSameEachTime(t *testing.T) {
	const want, ended = "AADSTS7000215: Invalid client secret provided", "The access token expiry UTC time is earlier than current UTC time"
	if got := stable("The access token expiry UTC time '11/16/2026 6:52:34 PM' is earlier than current UTC time '11/16/2026 6:53:05 PM'."); got != ended {
		t.Errorf("%q", got)
	}
	for _, text := range []string{
		"AADSTS7000215: Invalid client secret provided. Trace ID: 8d5e0d4c-1c11-4f65-9a0c-6e1b1e7c0000 Correlation ID: 5c3f1a2b-0000-4e4e-8888-1b2c3d4e5f60 Timestamp: 2026-11-16 11:50:01Z",
		"AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 8d5e0d4c\r\nCorrelation ID: 5c3f1a2b",
	} {
		if got := stable(text); strings.TrimSpace(got) != want {
			t.Errorf("%q", got)
		}
	}
}
