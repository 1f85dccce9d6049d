// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
)

func TestEvaluate(t *testing.T) {
	const instance = "arn:aws:ec2:eu-central-1:111122223333:instance/i-0123456789abcdef0"
	owned := map[string]string{"aws:ResourceTag/Owner": "me"}
	for name, c := range map[string]struct {
		statements string
		request    policy.Request
		want       policy.Decision
	}{
		"nothing":          {``, policy.Request{Action: "ec2:RunInstances"}, policy.ImplicitDeny},
		"one word":         {`{"Effect":"Allow","Action":"ec2:RunInstances","Resource":"*"}`, policy.Request{Action: "ec2:RunInstances"}, policy.Allowed},
		"any case":         {`{"Effect":"Allow","Action":"EC2:runinstances","Resource":"*"}`, policy.Request{Action: "ec2:RunInstances"}, policy.Allowed},
		"wildcard":         {`{"Effect":"Allow","Action":["ec2:Describe*"],"Resource":"*"}`, policy.Request{Action: "ec2:DescribeVpcs", Resource: "*"}, policy.Allowed},
		"other action":     {`{"Effect":"Allow","Action":["ec2:Describe*"],"Resource":"*"}`, policy.Request{Action: "ec2:RunInstances", Resource: "*"}, policy.ImplicitDeny},
		"a denial is last": {`{"Effect":"Deny","Action":"ec2:*","Resource":"*"},{"Effect":"Allow","Action":"*","Resource":"*"}`, policy.Request{Action: "ec2:RunInstances"}, policy.ExplicitDeny},
		"not this action":  {`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`, policy.Request{Action: "iam:GetUser"}, policy.ImplicitDeny},
		"its resource":     {`{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:instance/*"}`, policy.Request{Action: "ec2:StopInstances", Resource: instance}, policy.Allowed},
		"other resource":   {`{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:volume/*"}`, policy.Request{Action: "ec2:StopInstances", Resource: instance}, policy.ImplicitDeny},
		"lists need all": {
			`{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:instance/*"}`, policy.Request{Action: "ec2:DescribeInstances", Resource: "*"}, policy.ImplicitDeny,
		},
		"its tag": {
			`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/Owner":"me"}}}`,
			policy.Request{Action: "ec2:StopInstances", Resource: instance, Context: owned}, policy.Allowed,
		},
		"no tag": {
			`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringLike":{"aws:ResourceTag/Owner":"m*"}}}`,
			policy.Request{Action: "ec2:StopInstances", Resource: instance}, policy.ImplicitDeny,
		},
		"no tag, if it exists": {
			`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEqualsIfExists":{"aws:ResourceTag/Owner":"me"}}}`,
			policy.Request{Action: "ec2:StopInstances", Resource: instance}, policy.Allowed,
		},
		"another's tag": {
			`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:ResourceTag/Owner":["you"]}}}`,
			policy.Request{Action: "ec2:StopInstances", Resource: instance, Context: owned}, policy.ExplicitDeny,
		},
	} {
		d, err := policy.Parse([]byte(`{"Version":"2012-10-17","Statement":[` + c.statements + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.Evaluate([]policy.Document{d}, c.request); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestDocumentsThatCannotBeEvaluatedAreRefused(t *testing.T) {
	for _, document := range []string{
		`no JSON`, `{"Statement":[{"Effect":"Perhaps","Action":"*"}]}`,
		`{"Statement":[{"Effect":"Allow","Action":"*","Condition":{"DateGreaterThan":{"aws:CurrentTime":"2026-01-01"}}}]}`,
	} {
		if _, err := policy.Parse([]byte(document)); err == nil {
			t.Errorf("%s is accepted", document)
		}
	}
}
