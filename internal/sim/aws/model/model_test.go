// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

func TestCheck(t *testing.T) {
	services, err := model.Services()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		service, operation string
		params             model.Params
		want               model.Kind
		path               string
	}{
		"good":           {"ec2", "DescribeInstances", model.Params{"Filter.1.Name": "vpc-id", "Filter.1.Value.2": "x", "MaxResults": "5"}, "", ""},
		"unknown":        {"ec2", "DescribeInstances", model.Params{"Filter.1.Names": "vpc-id"}, model.Unknown, "Filter.1.Names"},
		"a list as text": {"ec2", "DescribeInstances", model.Params{"InstanceId": "i-1"}, model.Unknown, "InstanceId"},
		"no number":      {"ec2", "RunInstances", model.Params{"MinCount": "1", "MaxCount": "one"}, model.Malformed, "MaxCount"},
		"no truth":       {"ec2", "DescribeInstances", model.Params{"DryRun": "yes"}, model.Malformed, "DryRun"},
		"missing":        {"ec2", "RunInstances", model.Params{"MinCount": "1"}, model.Missing, "MaxCount"},
		"missing list":   {"ec2", "TerminateInstances", model.Params{}, model.Missing, "InstanceId"},
		"other value":    {"elasticloadbalancing", "CreateLoadBalancer", model.Params{"Name": "x", "Scheme": "open"}, model.NotInEnum, "Scheme"},
		"too large":      {"elasticloadbalancing", "CreateTargetGroup", model.Params{"Name": "x", "Port": "70000"}, model.OutOfRange, "Port"},
		"missing inside": {"elasticloadbalancing", "RegisterTargets", model.Params{"TargetGroupArn": "x", "Targets.member.2.Port": "1"}, model.Missing, "Targets.member.2.Id"},
	} {
		p := services[c.service].Operations[c.operation].Check(c.params)
		switch {
		case p == nil && c.want == "":
		case p == nil || p.Kind != c.want || p.Path != c.path:
			t.Errorf("%s: %+v, want %s of %s", name, p, c.want, c.path)
		}
	}
}

func TestListsKeepTheirOrder(t *testing.T) {
	p := model.Params{"Id.10": "c", "Id.2": "b", "Id.1": "a", "Tag.2.Key": "y", "Tag.1.Key": "x"}
	if got := p.List("Id"); len(got) != 3 || got[0] != "a" || got[2] != "c" {
		t.Errorf("the list is %v", got)
	}
	if got := p.Each("Tag"); len(got) != 2 || got[0].String("Key") != "x" || !p.Has("Tag") || p.Has("Ta") {
		t.Errorf("the structures are %v", got)
	}
}
