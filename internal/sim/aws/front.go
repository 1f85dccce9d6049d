// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/aws/model"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// hostNames are those of the services in the region, and the manifest's own.
func (a *AWS) hostNames() []string {
	out := append([]string{"sts.amazonaws.com", "iam.amazonaws.com"}, a.seed.Hosts...)
	r, known := model.RegionNamed(a.seed.Region)
	if !known {
		return out
	}
	for _, s := range []string{ec2, elb, sts, servicequotas, iam} {
		out = append(out, s+"."+r.Name+"."+r.Suffix)
	}
	for _, name := range priceRegions() {
		if of, known := model.RegionNamed(name); known && of.Suffix == r.Suffix {
			out = append(out, "api.pricing."+name+"."+of.Suffix)
		}
	}
	return out
}

// requestSet is what the tags in a request say.
func requestSet(body []byte) tag.Set {
	r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	if err != nil {
		return tag.Set{}
	}
	return tag.AWS().Read(read(r).requestTags())
}

// content is what a request writes to the platform. Machine configurations are left out:
// they have keys, and on this platform they are user data.
func content(body []byte) []byte {
	r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	if err != nil {
		return body
	}
	params := read(r).params
	if userData, err := base64.StdEncoding.DecodeString(params.String("UserData")); err == nil && audit.Configures(userData) {
		delete(params, "UserData")
	}
	return []byte(strings.Join(slices.Sorted(maps.Values(params)), "\n"))
}

// classify says what a request is in the words of a fault plan.
func (a *AWS) classify(r *http.Request) fault.Call {
	q := read(r)
	op, known := a.operations[q.service+":"+q.operation]
	if !known {
		return fault.Call{Verb: fault.Get}
	}
	if q.params.Bool("DryRun", false) {
		return fault.Call{Verb: fault.Get, Resource: op.resource}
	}
	if id := q.params.String("ResourceId.1"); id != "" {
		op.resource = resourceOf(id)
	}
	return fault.Call{Verb: op.verb, Resource: op.resource, Name: a.nameIn(q, op)}
}

// resourceOf is what an ID names.
func resourceOf(id string) fault.Resource {
	prefix, _, _ := strings.Cut(id, "-")
	switch prefix {
	case "i":
		return fault.Machine
	case "vol":
		return fault.Disk
	case "ami":
		return fault.Image
	}
	return fault.Network
}

// nameIn is the name of the machine or load balancer that a request is about.
func (a *AWS) nameIn(q request, op operation) string {
	switch {
	case q.service == elb:
		return a.balancerName(q)
	case q.operation == "RunInstances":
		for _, s := range q.params.Each("TagSpecification") {
			if s.String("ResourceType") == "instance" {
				return requestSetName(s.Each("Tag"))
			}
		}
	case q.operation == "CreateSecurityGroup":
		return q.params.String("GroupName")
	case op.verb != fault.List:
		return a.objectName(q)
	}
	return ""
}

func requestSetName(all []model.Params) string {
	for _, p := range all {
		if p.String("Key") == "Name" {
			return p.String("Value")
		}
	}
	return ""
}

// objectName is the name of the first object that a request names.
func (a *AWS) objectName(q request) string {
	for _, key := range []string{"InstanceId", "InstanceId.1", "ResourceId.1", "GroupId", "VolumeId"} {
		id := q.params.String(key)
		if id == "" {
			continue
		}
		a.Lock()
		defer a.Unlock()
		if i := a.st.instances.ByID[id]; i != nil {
			return i.machineName()
		}
		if g := a.st.groups.ByID[id]; g != nil {
			return g.Name
		}
		return id
	}
	return ""
}

// refuseFault answers a call that the fault plan refuses.
func (a *AWS) refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	q := read(r)
	var refused refusal
	err := a.faultError(q, f.Kind)
	if !errors.As(err, &refused) {
		refused = refusal{"InternalError", err.Error(), http.StatusInternalServerError}
	}
	writeRefusal(w, q.service, refused)
}

func (a *AWS) faultError(q request, k fault.Kind) error {
	switch k { //nolint:exhaustive // others do not refuse
	case fault.Throttle:
		return throttled(q.service)
	case fault.TokenExpiry:
		return expired(q.service)
	case fault.Quota:
		return a.overQuota(q)
	}
	return refusal{deniedCode(q.service), deniedText(q.service, "User: "+a.arn(iam, "user/"+userName)+" is not authorized to perform: "+q.service+":"+q.operation), deniedStatus(q.service)}
}

func throttled(service string) error {
	switch service {
	case ec2:
		return refusal{"RequestLimitExceeded", "Request limit exceeded.", http.StatusServiceUnavailable}
	case pricing:
		return refuse("ThrottlingException", "Rate exceeded")
	case servicequotas:
		return refuse("TooManyRequestsException", "Rate exceeded")
	}
	return refuse("Throttling", "Rate exceeded")
}

func (a *AWS) overQuota(q request) error {
	switch q.operation {
	case "CreateLoadBalancer":
		return refuse("TooManyLoadBalancers", "The maximum number of load balancers has been reached")
	case "CreateTargetGroup":
		return refuse("TooManyTargetGroups", "The maximum number of target groups has been reached")
	case "CreateListener":
		return refuse("TooManyListeners", "The maximum number of listeners has been reached")
	case "CreateSecurityGroup":
		return refuse("SecurityGroupLimitExceeded", "The maximum number of security groups has been reached.")
	case "CreateVolume":
		return refuse("VolumeLimitExceeded", "Maximum number of volumes exceeded.")
	case "AllocateAddress":
		return refuse("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	return vcpuLimitExceeded(a.quotaOf("Standard"))
}
