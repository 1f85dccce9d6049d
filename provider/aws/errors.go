// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	hintUnavailable = "check that AWS can be reached from here; it is tried again"
	hintCredentials = "renew the credentials in the Secret of the ProviderConfig"
	hintPermission  = "grant it to the credentials of the ProviderConfig, see docs/getting-started/aws.md"
)

// meaning is what a code of AWS means for the reconciler.
type meaning struct {
	kind         provider.Kind
	reason, hint string
}

// meanings returns what the codes mean that name a definite cause. Codes that end with
// .NotFound or .Malformed, and those of validation, are below.
func meanings() map[string]meaning {
	all := map[string]meaning{}
	add := func(m meaning, codes ...string) {
		for _, c := range codes {
			all[c] = m
		}
	}
	add(meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials},
		"AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException",
		"RequestExpired", "IncompleteSignature", "MissingAuthenticationToken", "InvalidAccessKeyId", "InvalidIdentityToken", "InvalidSignatureException",
		"IDPRejectedClaim")
	add(meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, "enable the region or the service for the account"}, "OptInRequired", "Blocked", "PendingVerification")
	add(meaning{provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission}, "UnauthorizedOperation", "AccessDenied", "AccessDeniedException")
	add(meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, "it is tried again"},
		"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "SlowDown", "EC2ThrottledException", "BandwidthLimitExceeded",
		"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "IDPCommunicationError")
	add(meaning{provider.Exhausted, provider.ReasonCapacityExhausted, "another zone is tried next, if there is one"},
		"InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity")
	add(meaning{provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the account in Service Quotas, or remove something"},
		"VcpuLimitExceeded", "InstanceLimitExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded", "AddressLimitExceeded", "NetworkInterfaceLimitExceeded",
		"SecurityGroupLimitExceeded", "RulesPerSecurityGroupLimitExceeded", "SecurityGroupsPerInterfaceLimitExceeded", "ResourceLimitExceeded",
		"TooManyLoadBalancers", "TooManyTargetGroups", "TooManyListeners", "TooManyTargets", "TooManyRegistrationsForTargetId")
	add(meaning{provider.Exhausted, provider.ReasonQuotaExceeded, "free addresses, or set another subnet in spec.aws.subnetIDs"}, "InsufficientFreeAddressesInSubnet")
	add(meaning{provider.Unavailable, provider.ReasonPlatformConflict, "it is tried again"},
		"DependencyViolation", "ResourceInUse", "OperationInProgress", "IncorrectInstanceState", "IncorrectState", "InvalidTarget", "VolumeInUse", "PriorRequestNotComplete")
	add(meaning{provider.InUse, provider.ReasonDeletionRefused, "switch off the protection against termination"}, "OperationNotPermitted")
	add(meaning{provider.Conflict, provider.ReasonNameTaken, "remove it, or choose another name"},
		"DuplicateLoadBalancerName", "DuplicateTargetGroupName", "DuplicateListener", "InvalidGroup.Duplicate")
	add(meaning{provider.Invalid, provider.ReasonImageNotFound, "set spec.image of the request or spec.aws.ami to an image of this region"},
		"InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable")
	add(meaning{provider.Invalid, provider.ReasonNetworkNotFound, "correct spec.aws.subnetIDs, spec.aws.securityGroupIDs or spec.aws.vpcID"},
		"InvalidSubnetID.NotFound", "InvalidSubnetID.Malformed", "InvalidSubnet", "SubnetNotFound", "InvalidGroup.NotFound", "InvalidGroupId.Malformed",
		"InvalidSecurityGroupID.NotFound", "InvalidSecurityGroupId.Malformed", "InvalidVpcID.NotFound", "InvalidVpcID.Malformed", "InvalidSecurityGroup")
	add(meaning{provider.Invalid, provider.ReasonAttemptSpent, "it is tried again as another attempt"}, "IdempotentParameterMismatch")
	return all
}

// apiError maps an error of the SDK to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done || err == nil {
		return err
	}
	e := &provider.Error{Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnavailable, Op: op, Err: cause(err), Hint: hintUnavailable}
	said, answered := errors.AsType[smithy.APIError](err)
	response, _ := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	case answered && known(said.ErrorCode()):
		m := meanings()[said.ErrorCode()]
		e.Kind, e.Reason, e.Hint = m.kind, m.reason, m.hint
	case answered && missing(said.ErrorCode()):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonNotFound, "correct what it names"
	case response != nil && response.HTTPStatusCode() >= 500:
	case unreadable(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonEndpointForeign, "correct spec.aws.endpoint: what answers there is not AWS"
	case answered:
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonPlatformRefused, "correct what it names"
	case errtext.Untrusted(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonCertificateRefused, "correct spec.aws.endpoint, or set its authority in the key caBundle of the Secret"
	}
	return e
}

func known(code string) bool { _, ok := meanings()[code]; return ok }

// missing reports whether the code says that something does not exist.
func missing(code string) bool {
	return strings.HasSuffix(code, "NotFound") || strings.HasSuffix(code, "NotFoundException") || code == "NoSuchEntity"
}

// gone reports whether AWS does not know the object that a call names.
func gone(err error) bool {
	said, ok := errors.AsType[smithy.APIError](err)
	return ok && missing(said.ErrorCode())
}

// coded reports whether AWS answered with one of the codes.
func coded(err error, codes ...string) bool {
	said, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	for _, c := range codes {
		if said.ErrorCode() == c {
			return true
		}
	}
	return false
}

// unreadable reports whether an answer came that is none of AWS.
func unreadable(err error) bool {
	_, broken := errors.AsType[*smithy.DeserializationError](err)
	said, ok := errors.AsType[smithy.APIError](err)
	return broken || ok && (said.ErrorCode() == "UnknownError" || said.ErrorCode() == "")
}

// varying is the part of a refusal that differs from answer to answer.
var varying = regexp.MustCompile(`(?i)[\s.]*(encoded authorization failure message:\s*\S+|\(?request ?id: ?[0-9a-f-]+\)?)`)

// cause is what AWS said, without request ids; else what the network said.
func cause(err error) error {
	if said, ok := errors.AsType[smithy.APIError](err); ok && said.ErrorCode() != "UnknownError" && said.ErrorCode() != "" {
		return fmt.Errorf("%s: %s", said.ErrorCode(), varying.ReplaceAllString(said.ErrorMessage(), ""))
	}
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.HTTPStatusCode() > 0 {
		return fmt.Errorf("the answer has status %d and is none of AWS", r.HTTPStatusCode())
	}
	if sent, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		err = sent.Err
	}
	if canceled, ok := errors.AsType[*aws.RequestCanceledError](err); ok {
		err = canceled.Err
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
	if _, answered := errors.AsType[smithy.APIError](err); e.Reason == provider.ReasonPlatformUnavailable && !answered {
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.aws.region and spec.aws.endpoint, and that AWS can be reached from here; it is tried again"
	}
	if _, unnamed := errors.AsType[*net.DNSError](err); unnamed {
		e.Hint = "check spec.aws.region: its endpoint has no address; it is tried again"
	}
	if during(err, "AssumeRole") || during(err, "AssumeRoleWithWebIdentity") {
		e.Hint = "check roleARN and externalID, and that the role trusts the credentials"
	}
	return mapped
}

// during reports whether an error is that of an operation, or was caused by it.
func during(err error, operation string) bool {
	for {
		o, ok := errors.AsType[*smithy.OperationError](err)
		if !ok {
			return false
		}
		if o.OperationName == operation {
			return true
		}
		err = o.Err
	}
}
