// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// raw is a request by hand.
type raw struct {
	service, region, form string
	at                    time.Time
	unsigned              bool
	secret                string
}

// send returns status and body of the answer.
func (f *fixture) send(t *testing.T, r raw) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+r.service+".eu-central-1.amazonaws.com/", strings.NewReader(r.form))
	cloudtest.Must(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !r.unsigned {
		digest := sha256.Sum256([]byte(r.form))
		key := awssdk.Credentials{AccessKeyID: f.key, SecretAccessKey: r.secret}
		cloudtest.Must(t, v4.NewSigner().SignHTTP(t.Context(), key, request, hex.EncodeToString(digest[:]), r.service, r.region, r.at))
	}
	answer, err := f.config("", "", "").HTTPClient.Do(request)
	cloudtest.Must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	cloudtest.Must(t, err)
	return fmt.Sprint(answer.StatusCode, " ", string(bytes.TrimSpace(body)))
}

func TestRequestsAreCheckedBeforeTheyAreCarriedOut(t *testing.T) {
	f := start(t, aws.Seed{})
	const vpcs, identity = "Action=DescribeVpcs&Version=2016-11-15", "Action=GetCallerIdentity&Version=2011-06-15"
	now := time.Now()
	good := func(service, form string) raw {
		return raw{service: service, region: "eu-central-1", form: form, at: now, secret: f.secret}
	}
	for name, c := range map[string]struct {
		request func(*raw)
		form    string
		service string
		want    []string
	}{
		"good":              {form: vpcs, service: "ec2", want: []string{"200 ", "<DescribeVpcsResponse"}},
		"unsigned":          {func(r *raw) { r.unsigned = true }, vpcs, "ec2", []string{"400 ", "<Code>MissingParameter</Code>"}},
		"unsigned, STS":     {func(r *raw) { r.unsigned = true }, identity, "sts", []string{"403 ", "<Code>MissingAuthenticationToken</Code>"}},
		"wrong secret":      {func(r *raw) { r.secret = "x" }, vpcs, "ec2", []string{"401 ", "<Response><Errors><Error><Code>AuthFailure</Code>"}},
		"wrong secret, STS": {func(r *raw) { r.secret = "x" }, identity, "sts", []string{"403 ", "<ErrorResponse", "<Type>Sender</Type><Code>SignatureDoesNotMatch</Code>"}},
		"late":              {func(r *raw) { r.at = now.Add(-16 * time.Minute) }, vpcs, "ec2", []string{"400 ", "RequestExpired"}},
		"late, STS":         {func(r *raw) { r.at = now.Add(-16 * time.Minute) }, identity, "sts", []string{"403 ", "Signature expired"}},
		"other region":      {func(r *raw) { r.region = "us-west-2" }, vpcs, "ec2", []string{"401 ", "scoped to a valid region"}},
		"unknown action":    {form: "Action=DescribeEverything&Version=2016-11-15", service: "ec2", want: []string{"400 ", "InvalidAction"}},
		"other version":     {form: "Action=DescribeVpcs&Version=2010-01-01", service: "ec2", want: []string{"400 ", "NoSuchVersion"}},
		"unknown parameter": {form: vpcs + "&Colour=blue", service: "ec2", want: []string{"400 ", "<Code>UnknownParameter</Code><Message>The parameter Colour is not recognized"}},
		"no number":         {form: vpcs + "&MaxResults=many", service: "ec2", want: []string{"400 ", "InvalidParameterValue"}},
		"missing parameter": {form: "Action=TerminateInstances&Version=2016-11-15", service: "ec2", want: []string{"400 ", "MissingParameter", "InstanceId"}},
		"missing, ELB":      {form: "Action=DeleteLoadBalancer&Version=2015-12-01", service: "elasticloadbalancing", want: []string{"400 ", "ValidationError", "Member must not be null"}},
	} {
		r := good(c.service, c.form)
		if c.request != nil {
			c.request(&r)
		}
		got := f.send(t, r)
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q has no %q", name, got, part)
			}
		}
	}
}

func document(actions ...string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{ // cannot fail: plain values
		"Version":   "2012-10-17",
		"Statement": []any{map[string]any{"Effect": "Allow", "Action": append(actions, "ec2:Describe*"), "Resource": "*"}},
	})
	return raw
}

func TestPolicyOfTheUserIsEnforced(t *testing.T) {
	const run, tags, pass = "ec2:RunInstances", "ec2:CreateTags", "iam:PassRole"
	profile := func(in *ec2.RunInstancesInput) {
		in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: new("nodes")}
	}
	for name, c := range map[string]struct {
		policy json.RawMessage
		want   string
	}{
		"all":        {document(run, tags, pass), ""},
		"no tags":    {document(run, pass), "UnauthorizedOperation"},
		"no profile": {document(run, tags), "UnauthorizedOperation"},
		"nothing":    {document(tags, pass), "UnauthorizedOperation"},
	} {
		f := start(t, aws.Seed{Policy: c.policy, Profiles: []string{"nodes"}})
		_, err := f.ec2.RunInstances(t.Context(), f.order("one", profile))
		expect(t, name, err, c.want)
		_, err = f.ec2.RunInstances(t.Context(), f.order("one", profile, func(in *ec2.RunInstancesInput) { in.DryRun = new(true) }))
		if c.want == "" {
			c.want = "DryRunOperation"
		}
		expect(t, name+", checked only", err, c.want)
	}
}

func TestTemporaryCredentials(t *testing.T) {
	f := start(t, aws.Seed{
		SessionLimit: metav1.Duration{Duration: 300 * time.Millisecond},
		Roles:        []aws.Role{{Name: "external", ExternalID: "secret"}, {Name: "web", WebIdentity: true}},
	})
	arn := func(name string) *string { return new("arn:aws:iam::111122223333:role/" + name) }
	_, err := f.sts.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: arn("external"), RoleSessionName: new("test")})
	expect(t, "without the external id", err, "AccessDenied")
	_, err = f.sts.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: arn("web"), RoleSessionName: new("test")})
	expect(t, "without a token", err, "AccessDenied")
	token := func(expires time.Time) *string {
		claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"me","exp":%d}`, expires.Unix()))
		return new("e30." + claims + ".c2ln")
	}
	web := func(token *string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
		return f.sts.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{RoleArn: arn("web"), RoleSessionName: new("test"), WebIdentityToken: token})
	}
	_, err = web(token(time.Now().Add(-time.Hour)))
	expect(t, "an old token", err, "ExpiredTokenException")
	_, err = web(token(time.Now().Add(time.Hour)))
	expect(t, "a token", err, "")
	out, err := f.sts.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: arn("external"), RoleSessionName: new("test"), ExternalId: new("secret")})
	cloudtest.Must(t, err)
	c := out.Credentials
	limited := f.config(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
	who, err := sts.NewFromConfig(limited).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	cloudtest.Must(t, err)
	if *who.Arn != "arn:aws:sts::111122223333:assumed-role/external/test" {
		t.Errorf("the role is %s", *who.Arn)
	}
	stolen := f.config(*c.AccessKeyId, *c.SecretAccessKey, "")
	_, err = ec2.NewFromConfig(stolen).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	expect(t, "without the session token", err, "AuthFailure")
	cloudtest.Until(t, "the credentials expire", func() bool {
		_, err := ec2.NewFromConfig(limited).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		return code(err) == "RequestExpired"
	})
	_, err = sts.NewFromConfig(limited).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	expect(t, "expired, STS", err, "ExpiredToken")
}

// TestUnknownRegionsHaveNoEndpoint: nothing answers at the names of a region that AWS does
// not have, and signatures for another region than the account's are refused.
func TestUnknownRegionsHaveNoEndpoint(t *testing.T) {
	f := start(t, aws.Seed{Region: "nowhere-1"})
	for region, answers := range map[string]bool{"eu-central-1": true, "nowhere-1": false, "us-east-1": false} {
		c := f.config(f.key, f.secret, "")
		c.Region = region
		_, err := ec2.NewFromConfig(c).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
		var unknown *net.DNSError
		if answers && err != nil || !answers && !errors.As(err, &unknown) {
			t.Errorf("%s: %v", region, err)
		}
	}
	c := f.config(f.key, f.secret, "")
	c.Region = "us-west-2"
	_, err := ec2.NewFromConfig(c, func(o *ec2.Options) { o.BaseEndpoint = new("https://ec2.eu-central-1.amazonaws.com") }).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
	expect(t, "a signature for another region", err, "AuthFailure")
	_, err = f.ec2.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{RegionNames: []string{"nowhere-1"}})
	expect(t, "DescribeRegions", err, "InvalidParameterValue")
}
