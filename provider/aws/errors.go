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
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const hintPermission = "grant it to the credentials of the ProviderConfig, see docs/getting-started/aws.md"

// meanings returns what the codes mean that name a definite cause. Codes that end with
// .NotFound or .Malformed, and those of validation, are below.
func meanings() cloud.Meanings {
	all := cloud.Meanings{}
	all.Add(cloud.CredentialsRefused(),
		"AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException",
		"RequestExpired", "IncompleteSignature", "MissingAuthenticationToken", "InvalidAccessKeyId", "InvalidIdentityToken", "InvalidSignatureException",
		"IDPRejectedClaim")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonCredentialsRefused, "enable the region or the service for the account"), "OptInRequired", "Blocked", "PendingVerification")
	all.Add(cloud.Means(provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission), "UnauthorizedOperation", "AccessDenied", "AccessDeniedException")
	all.Add(cloud.Throttled(),
		"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "SlowDown", "EC2ThrottledException", "BandwidthLimitExceeded")
	all.Add(cloud.TryAgain(), "InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "IDPCommunicationError")
	all.Add(cloud.NoCapacity(),
		"InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the account in Service Quotas, or remove something"),
		"VcpuLimitExceeded", "InstanceLimitExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded", "AddressLimitExceeded", "NetworkInterfaceLimitExceeded",
		"SecurityGroupLimitExceeded", "RulesPerSecurityGroupLimitExceeded", "SecurityGroupsPerInterfaceLimitExceeded", "ResourceLimitExceeded",
		"TooManyLoadBalancers", "TooManyTargetGroups", "TooManyListeners", "TooManyTargets", "TooManyRegistrationsForTargetId")
	all.Add(cloud.Means(provider.Exhausted, provider.ReasonQuotaExceeded, "free addresses, or set another subnet in spec.aws.subnetIDs"), "InsufficientFreeAddressesInSubnet")
	all.Add(cloud.Busy(),
		"DependencyViolation", "ResourceInUse", "OperationInProgress", "IncorrectInstanceState", "IncorrectState", "InvalidTarget", "VolumeInUse", "PriorRequestNotComplete")
	all.Add(cloud.Means(provider.InUse, provider.ReasonDeletionRefused, "switch off the protection against termination"), "OperationNotPermitted")
	all.Add(cloud.Means(provider.Conflict, provider.ReasonNameTaken, "remove it, or choose another name"),
		"DuplicateLoadBalancerName", "DuplicateTargetGroupName", "DuplicateListener", "InvalidGroup.Duplicate")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonImageNotFound, "set spec.image of the request or spec.aws.ami to an image of this region"),
		"InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonNetworkNotFound, "correct spec.aws.subnetIDs, spec.aws.securityGroupIDs or spec.aws.vpcID"),
		"InvalidSubnetID.NotFound", "InvalidSubnetID.Malformed", "InvalidSubnet", "SubnetNotFound", "InvalidGroup.NotFound", "InvalidGroupId.Malformed",
		"InvalidSecurityGroupID.NotFound", "InvalidSecurityGroupId.Malformed", "InvalidVpcID.NotFound", "InvalidVpcID.Malformed", "InvalidSecurityGroup")
	all.Add(cloud.Means(provider.Invalid, provider.ReasonAttemptSpent, "it is retried as another attempt"), "IdempotentParameterMismatch")
	return all
}

// apiError maps an error of the SDK to a Kind.
func apiError(op string, err error) error { return cloud.Translate(op, err, meant, cause) }

// meant is what an error of the SDK means.
func meant(err error) cloud.Meaning {
	said, answered := errors.AsType[smithy.APIError](err)
	response, _ := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	case answered && known(said.ErrorCode()):
		return meanings()[said.ErrorCode()]
	case answered && missing(said.ErrorCode()):
		return cloud.NotFound()
	case response != nil && response.HTTPStatusCode() >= 500:
	case unreadable(err):
		return cloud.Foreign("spec.aws.endpoint", "AWS")
	case answered:
		return cloud.Refused()
	case errtext.Untrusted(err):
		return cloud.Uncertified("spec.aws.endpoint")
	}
	return cloud.Unreached("AWS")
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
		return fmt.Errorf("the response with status %d is not from AWS", r.HTTPStatusCode())
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
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check spec.aws.region and spec.aws.endpoint, and that AWS can be reached from here; it is retried"
	}
	if _, unnamed := errors.AsType[*net.DNSError](err); unnamed {
		e.Hint = "check spec.aws.region: its endpoint has no address; it is retried"
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
