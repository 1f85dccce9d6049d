// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
)

func identityOperations() map[string]operation {
	out := about(sts, "", map[string]func(*call) (fields, error){
		"GetCallerIdentity": getCallerIdentity, "AssumeRole": assumeRole, "AssumeRoleWithWebIdentity": assumeWithToken,
	})
	maps.Copy(out, about(iam, "", map[string]func(*call) (fields, error){
		"GetUser": getUser, "GetRole": getRole, "GetInstanceProfile": getProfile, "SimulatePrincipalPolicy": simulatePolicy,
	}))
	return out
}

func getCallerIdentity(c *call) (fields, error) {
	return fields{"Arn", c.who.arn, "UserId", c.who.userID, "Account", c.account}, nil
}

// roleOf finds the role of an ARN.
func (c *call) roleOf(arn string) *principal {
	name, found := strings.CutPrefix(arn, c.arn(iam, "role/"))
	if !found {
		return nil
	}
	return c.st.roleNamed(name)
}

func assumeRole(c *call) (fields, error) {
	arn := c.params.String("RoleArn")
	role := c.roleOf(arn)
	if role == nil || role.WebIdentity || role.ExternalID != "" && role.ExternalID != c.params.String("ExternalId") {
		return nil, refusal{"AccessDenied", fmt.Sprintf("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", c.who.arn, arn), http.StatusForbidden}
	}
	return c.newSession(role)
}

// assumeWithToken accepts any token that looks like one and is not over.
func assumeWithToken(c *call) (fields, error) {
	role := c.roleOf(c.params.String("RoleArn"))
	if role == nil || !role.WebIdentity {
		return nil, refusal{"AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", http.StatusForbidden}
	}
	parts := strings.Split(c.params.String("WebIdentityToken"), ".")
	if len(parts) != 3 {
		return nil, refuse("InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	var claims struct {
		Exp int64
		Sub string
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Sub == "" {
		return nil, refuse("InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	if c.now.Unix() >= claims.Exp {
		return nil, refuse("ExpiredTokenException", "Token expired: current date/time must be before the expiration date/time")
	}
	out, err := c.newSession(role)
	return append(out, "SubjectFromWebIdentityToken", claims.Sub), err
}

// newSession creates temporary credentials of a role.
func (c *call) newSession(role *principal) (fields, error) {
	name := c.params.String("RoleSessionName")
	s := &session{
		AccessKeyID: "ASIA" + keyID(), Secret: newSecret(), Token: randomText(200, secretLetters), Name: name, Role: role.ID,
		Expires: c.now.Add(time.Duration(c.params.Int("DurationSeconds", 3600)) * time.Second),
	}
	if limit := c.seed.SessionLimit.Duration; limit > 0 {
		s.Expires = c.now.Add(limit)
	}
	c.st.sessions.Put(s.AccessKeyID, s)
	return fields{
		"AssumedRoleUser", fields{"AssumedRoleId", role.ID + ":" + name, "Arn", c.arn(sts, "assumed-role/"+role.Name+"/"+name)},
		"Credentials", fields{"AccessKeyId", s.AccessKeyID, "SecretAccessKey", s.Secret, "SessionToken", s.Token, "Expiration", s.Expires},
	}, nil
}

func noSuchEntity(format string, args ...any) error {
	return refusal{"NoSuchEntity", fmt.Sprintf(format, args...), http.StatusNotFound}
}

func getUser(c *call) (fields, error) {
	name := c.params.String("UserName")
	if name == "" && c.who.principal.Role {
		return nil, refuse("ValidationError", "Must specify userName when calling with non-User credentials")
	}
	for _, p := range c.st.principals.All() {
		if !p.Role && (p.Name == name || name == "" && p == c.who.principal) {
			return fields{"User", fields{"UserName", p.Name, "UserId", p.ID, "Arn", c.arn(iam, "user/"+p.Name), "Path", "/", "CreateDate", epoch()}}, nil
		}
	}
	return nil, noSuchEntity("The user with name %s cannot be found.", name)
}

// epoch is when everything in the account was created.
func epoch() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }

func (c *call) showRole(p *principal) fields {
	trust := url.QueryEscape(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)
	return fields{
		"RoleName", p.Name, "RoleId", p.ID, "Arn", c.arn(iam, "role/"+p.Name), "Path", "/", "CreateDate", epoch(), "AssumeRolePolicyDocument", trust,
		"MaxSessionDuration", 3600,
	}
}

func getRole(c *call) (fields, error) {
	name := c.params.String("RoleName")
	p := c.st.roleNamed(name)
	if p == nil {
		return nil, noSuchEntity("The role with name %s cannot be found.", name)
	}
	return fields{"Role", c.showRole(p)}, nil
}

func getProfile(c *call) (fields, error) {
	name := c.params.String("InstanceProfileName")
	p := c.st.roleNamed(name)
	if p == nil || !p.Profile {
		return nil, noSuchEntity("Instance Profile %s cannot be found.", name)
	}
	return fields{"InstanceProfile", fields{
		"InstanceProfileName", name, "InstanceProfileId", "AIPA" + p.ID[4:], "Arn", c.arn(iam, "instance-profile/"+name), "Path", "/",
		"CreateDate", epoch(), "Roles", members{c.showRole(p)},
	}}, nil
}

// profile is the instance profile that RunInstances names, as an ARN; empty: none.
func (c *call) profile() (string, error) {
	name, field := c.params.String("IamInstanceProfile.Name"), "name"
	if arn := c.params.String("IamInstanceProfile.Arn"); arn != "" {
		field = "arn"
		name = strings.TrimPrefix(arn, c.arn(iam, "instance-profile/"))
	}
	if name == "" {
		return "", nil
	}
	if p := c.st.roleNamed(name); p == nil || !p.Profile {
		return "", refuse("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.%s is invalid. Invalid IAM Instance Profile %s", name, field, field)
	}
	return c.arn(iam, "instance-profile/"+name), nil
}

func simulatePolicy(c *call) (fields, error) {
	var who *principal
	for _, p := range c.st.principals.All() {
		kind := "user/"
		if p.Role {
			kind = "role/"
		}
		if c.arn(iam, kind+p.Name) == c.params.String("PolicySourceArn") {
			who = p
		}
	}
	if who == nil {
		return nil, noSuchEntity("%s cannot be found.", c.params.String("PolicySourceArn"))
	}
	resources := c.params.List("ResourceArns.member")
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	results := members{}
	for _, action := range c.params.List("ActionNames.member") {
		for _, resource := range resources {
			r := policy.Request{Action: action, Resource: resource, Context: map[string]string{"aws:RequestedRegion": c.seed.Region}}
			results = append(results, fields{
				"EvalActionName", action, "EvalResourceName", resource, "EvalDecision", policy.Evaluate(who.documents(), r),
				"MatchedStatements", members{}, "MissingContextValues", members{},
			})
		}
	}
	return fields{"IsTruncated", false, "EvaluationResults", results}, nil
}
