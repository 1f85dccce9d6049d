// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "github.com/aws/aws-sdk-go-v2/service/iam"

// iamCalls are the operations of IAM that the driver uses.
type iamCalls struct {
	GetInstanceProfile      call[iam.GetInstanceProfileInput, iam.GetInstanceProfileOutput, iam.Options]
	SimulatePrincipalPolicy call[iam.SimulatePrincipalPolicyInput, iam.SimulatePrincipalPolicyOutput, iam.Options]
}

func iamCallsOf(c *iam.Client) iamCalls {
	return iamCalls{
		GetInstanceProfile:      c.GetInstanceProfile,
		SimulatePrincipalPolicy: c.SimulatePrincipalPolicy,
	}
}
