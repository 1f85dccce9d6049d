// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// authorize refuses what no policy of the caller allows.
func (c *call) authorize() error {
	if c.service == sts && c.operation != "AssumeRole" {
		return nil // needs no permission, or has no caller
	}
	for _, r := range c.wants() {
		if d := policy.Evaluate(c.who.documents, r); d != policy.Allowed {
			return denied(c.service, c.who.arn, r, d)
		}
	}
	return nil
}

// wants returns what the call needs permission for.
func (c *call) wants() []policy.Request {
	action := c.service + ":" + c.operation
	var out []policy.Request
	for _, target := range c.targets() {
		out = append(out, policy.Request{Action: action, Resource: target.arn, Context: c.context(target.tags)})
	}
	if len(out) == 0 {
		resource := "*"
		if c.operations[action].verb == fault.Create {
			resource = "" // of any name
		}
		out = append(out, policy.Request{Action: action, Resource: resource, Context: c.context(nil)})
	}
	return append(out, c.furtherWants()...)
}

// furtherWants are permissions beside that for the operation itself.
func (c *call) furtherWants() (out []policy.Request) {
	creates := c.operations[c.service+":"+c.operation].verb == fault.Create
	switch {
	case c.service == ec2 && creates && c.params.Has("TagSpecification"):
		context := c.context(nil)
		context["ec2:CreateAction"] = c.operation
		out = append(out, policy.Request{Action: "ec2:CreateTags", Context: context})
	case c.service == elb && creates && c.params.Has("Tags"):
		context := c.context(nil)
		context["elasticloadbalancing:CreateAction"] = c.operation
		out = append(out, policy.Request{Action: "elasticloadbalancing:AddTags", Context: context})
	}
	if c.operation == "RunInstances" && c.params.Has("IamInstanceProfile") {
		out = append(out, policy.Request{Action: "iam:PassRole", Context: map[string]string{"iam:PassedToService": "ec2.amazonaws.com"}})
	}
	return out
}

// context has the condition keys of the call.
func (c *call) context(of tags) map[string]string {
	out := map[string]string{"aws:RequestedRegion": c.seed.Region}
	for key, value := range of {
		out["aws:ResourceTag/"+key] = value
		out[c.service+":ResourceTag/"+key] = value
	}
	for key, value := range c.requestTags() {
		out["aws:RequestTag/"+key] = value
	}
	return out
}

// target is an existing resource that a call names.
type target struct {
	arn  string
	tags tags
}

func (c *call) targets() (out []target) {
	if c.operations[c.service+":"+c.operation].verb == fault.List {
		return nil
	}
	for _, key := range c.params.Keys() {
		name, _, _ := strings.Cut(key, ".")
		value := c.params[key]
		switch {
		case strings.HasPrefix(value, "arn:aws:"):
			out = append(out, target{value, c.tagsOf(value)})
		case name == "InstanceId", name == "ResourceId", name == "VolumeId", name == "GroupId" && c.operation != "RunInstances":
			out = append(out, target{c.resourceARN(value), c.tagsOf(value)})
		}
	}
	return out
}

// resourceARN names an object of EC2 by its ID.
func (c *call) resourceARN(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	kind := map[string]string{"i": "instance", "vol": "volume", "sg": "security-group", "eni": "network-interface", "eipalloc": "elastic-ip"}[prefix]
	kind = cmp.Or(kind, prefix)
	return c.arn(ec2, kind+"/"+id)
}

// denied is the refusal of a call that is not allowed.
func denied(service, arn string, r policy.Request, d policy.Decision) error {
	resource := r.Resource
	resource = cmp.Or(resource, "*")
	because := fmt.Sprintf("no identity-based policy allows the %s action", r.Action)
	if d == policy.ExplicitDeny {
		because = "there is an explicit deny in an identity-based policy"
	}
	text := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s because %s", arn, r.Action, resource, because)
	return refusal{deniedCode(service), deniedText(service, text), deniedStatus(service)}
}

func deniedText(service, text string) string {
	if service != ec2 {
		return text
	}
	return "You are not authorized to perform this operation. " + text + ". Encoded authorization failure message: " + randomHex(64)
}

func deniedCode(service string) string {
	switch {
	case service == ec2:
		return "UnauthorizedOperation"
	case speaksJSON(service):
		return "AccessDeniedException"
	}
	return "AccessDenied"
}

func deniedStatus(service string) int {
	if speaksJSON(service) {
		return http.StatusBadRequest
	}
	return http.StatusForbidden
}
