// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
	"github.com/butlerdotdev/butler/internal/sim/aws/signature"
)

// caller is who calls.
type caller struct {
	arn, userID string
	principal   *principal
	documents   []policy.Document
}

// authenticate finds out who calls, and refuses in the words of the service.
func (a *AWS) authenticate(q request, r *http.Request, now time.Time) (caller, error) {
	if q.service == sts && q.operation == "AssumeRoleWithWebIdentity" {
		return caller{}, nil
	}
	if q.signed != nil {
		return caller{}, unsigned(q)
	}
	if err := a.checkScope(q); err != nil {
		return caller{}, err
	}
	secret, who, err := a.lookup(q, now)
	if err != nil {
		return caller{}, err
	}
	switch err := q.signature.Check(r, q.body, secret, now); {
	case errors.Is(err, signature.ErrExpired):
		return caller{}, a.skewed(q, now)
	case err != nil:
		return caller{}, mismatch(q.service)
	}
	return who, nil
}

// lookup returns the secret of an access key and whose it is.
func (a *AWS) lookup(q request, now time.Time) (secret string, who caller, err error) {
	if s := a.st.sessions.ByID[q.signature.AccessKeyID]; s != nil {
		switch {
		case s.Token != q.signature.Token:
			return "", who, invalidKey(q.service)
		case !now.Before(s.Expires):
			return "", who, expired(q.service)
		}
		role := a.st.principals.ByID[s.Role]
		if role == nil {
			return "", who, invalidKey(q.service)
		}
		arn := a.arn(sts, "assumed-role/"+role.Name+"/"+s.Name)
		return s.Secret, caller{arn, role.ID + ":" + s.Name, role, role.documents()}, nil
	}
	for _, p := range a.st.principals.All() {
		if p.AccessKeyID == q.signature.AccessKeyID && p.AccessKeyID != "" {
			if q.signature.Token != "" {
				return "", who, invalidKey(q.service)
			}
			return p.Secret, caller{a.arn(iam, "user/"+p.Name), p.ID, p, p.documents()}, nil
		}
	}
	return "", who, invalidKey(q.service)
}

// checkScope refuses a signature for another region. The global services are signed for
// us-east-1, and prices for the regions that have the service.
func (a *AWS) checkScope(q request) error {
	if q.signature.Region == a.seed.Region && q.service != pricing || (q.service == iam || q.service == sts) && q.signature.Region == "us-east-1" {
		return nil
	}
	if q.service == pricing && slices.Contains(priceRegions(), q.signature.Region) {
		return nil
	}
	message := fmt.Sprintf("Credential should be scoped to a valid region, not '%s'. ", q.signature.Region)
	if q.service == ec2 {
		return refusal{"AuthFailure", message, http.StatusUnauthorized}
	}
	return refusal{"SignatureDoesNotMatch", message, http.StatusForbidden}
}

func unsigned(q request) error {
	switch {
	case !errors.Is(q.signed, signature.ErrMissing):
		return refusal{"IncompleteSignature", "The request signature does not conform to AWS standards.", http.StatusBadRequest}
	case q.service == ec2:
		return refuse("MissingParameter", "The request must contain the parameter AWSAccessKeyId")
	case speaksJSON(q.service):
		return refuse("MissingAuthenticationTokenException", "Missing Authentication Token")
	}
	return refusal{"MissingAuthenticationToken", "Request is missing Authentication Token", http.StatusForbidden}
}

const invalidToken = "The security token included in the request is invalid."

func invalidKey(service string) error {
	switch {
	case service == ec2:
		return refusal{"AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized}
	case speaksJSON(service):
		return refuse("UnrecognizedClientException", invalidToken)
	}
	return refusal{"InvalidClientTokenId", invalidToken, http.StatusForbidden}
}

func mismatch(service string) error {
	const message = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	switch {
	case service == ec2:
		return invalidKey(ec2)
	case speaksJSON(service):
		return refuse("InvalidSignatureException", message)
	}
	return refusal{"SignatureDoesNotMatch", message, http.StatusForbidden}
}

func expired(service string) error {
	const message = "The security token included in the request is expired"
	switch {
	case service == ec2:
		return refuse("RequestExpired", "Request has expired.")
	case speaksJSON(service):
		return refuse("ExpiredTokenException", message)
	}
	return refusal{"ExpiredToken", message, http.StatusForbidden}
}

// skewed refuses a caller whose clock is off.
func (a *AWS) skewed(q request, now time.Time) error {
	if q.service == ec2 {
		return refuse("RequestExpired", "Request has expired.")
	}
	const format = "20060102T150405Z"
	message := fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - 15 min.)",
		q.signature.Time.Format(format), now.UTC().Add(-15*time.Minute).Format(format), now.UTC().Format(format))
	if speaksJSON(q.service) {
		return refuse("InvalidSignatureException", "%s", message)
	}
	return refusal{"SignatureDoesNotMatch", message, http.StatusForbidden}
}
