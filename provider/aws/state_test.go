// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestStatesOfInstances(t *testing.T) {
	for state, c := range map[types.InstanceStateName]struct {
		want provider.State
		says string
	}{
		types.InstanceStateNamePending:      {provider.StatePending, "instance i-1 (m5.large in eu-central-1a) is starting"},
		types.InstanceStateNameRunning:      {provider.StateRunning, ""},
		types.InstanceStateNameShuttingDown: {provider.StateDeleting, "instance i-1 is shutting down"},
		types.InstanceStateNameStopping:     {provider.StatePending, "instance i-1 is being stopped: Server.SpotInstanceShutdown: gone"},
		types.InstanceStateNameStopped:      {provider.StateStopped, "instance i-1 is stopped: Server.SpotInstanceShutdown: gone"},
		types.InstanceStateNameTerminated:   {provider.StateAbsent, "instance i-1 was terminated: Server.SpotInstanceShutdown: gone"},
	} {
		i := types.Instance{
			InstanceId: new("i-1"), InstanceType: types.InstanceTypeM5Large, State: &types.InstanceState{Name: state}, PrivateIpAddress: new("10.0.0.7"), PublicIpAddress: new("203.0.113.7"),
			Placement: &types.Placement{AvailabilityZone: new("eu-central-1a")}, RootDeviceName: new("/dev/xvda"),
			StateReason: &types.StateReason{Code: new("Server.SpotInstanceShutdown"), Message: new("Server.SpotInstanceShutdown: gone")},
			BlockDeviceMappings: []types.InstanceBlockDeviceMapping{
				{DeviceName: new("/dev/sdf"), Ebs: &types.EbsInstanceBlockDevice{VolumeId: new("vol-2")}},
				{DeviceName: new("/dev/xvda"), Ebs: &types.EbsInstanceBlockDevice{VolumeId: new("vol-1")}},
			},
			NetworkInterfaces: []types.InstanceNetworkInterface{{MacAddress: new("02:00:00:00:00:01"), Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: new("fd00::7")}}}},
		}
		m := report(i, provider.MachineRef{Name: "a"})
		if m.State != c.want || m.Message != c.says || m.Certain != (c.want == provider.StateAbsent) {
			t.Errorf("%s: %s (%q)", state, m.State, m.Message)
		}
		if state != types.InstanceStateNameRunning {
			continue
		}
		if m.NodeProviderID != "aws:///eu-central-1a/i-1" || len(m.Addresses) != 3 || m.Addresses[0].String() != "10.0.0.7" || !m.Addresses[2].Is6() || m.MAC == "" {
			t.Errorf("it runs as %+v", m)
		}
		if diff := cmp.Diff([]v1alpha1.MachineDisk{{Name: "root", Serial: "vol1"}, {Name: "disk-1", Serial: "vol2"}}, m.Disks); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOfSeveralInstancesTheLivingOneIsTheMachine, and of two the one that came first.
func TestOfSeveralInstancesTheLivingOneIsTheMachine(t *testing.T) {
	owner := provider.Owner{ID: "o"}
	one := func(id string, state types.InstanceStateName, at int64, token string) types.Instance {
		return types.Instance{
			InstanceId: &id, State: &types.InstanceState{Name: state}, LaunchTime: new(time.Unix(at, 0)), ClientToken: &token, Tags: tagList(ownerTags(owner, "a")),
		}
	}
	ours := ownerMark(owner) + "1"
	running, over := types.InstanceStateNameRunning, types.InstanceStateNameTerminated
	for name, c := range map[string]struct {
		all  []types.Instance
		want string
	}{
		"none":                         {nil, ""},
		"a copy":                       {[]types.Instance{one("i-1", running, 1, "console")}, ""},
		"a copy without a token":       {[]types.Instance{one("i-1", running, 1, "")}, ""},
		"ended before":                 {[]types.Instance{one("i-1", over, 1, ours), one("i-2", running, 2, ours)}, "i-2"},
		"ended, the other way round":   {[]types.Instance{one("i-2", running, 2, ours), one("i-1", over, 3, ours)}, "i-2"},
		"two that ended":               {[]types.Instance{one("i-1", over, 1, ours), one("i-2", over, 2, ours)}, "i-2"},
		"two that run":                 {[]types.Instance{one("i-2", running, 2, ours), one("i-1", running, 1, ours)}, "i-1"},
		"a copy beside one that ended": {[]types.Instance{one("i-1", over, 1, ours), one("i-2", running, 2, "console")}, "i-1"},
	} {
		i, ok := pick(c.all, owner)
		if value(i.InstanceId) != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", name, value(i.InstanceId), c.want)
		}
	}
}

func TestErrorsOfAWS(t *testing.T) {
	for code, want := range map[string]struct {
		kind   provider.Kind
		reason string
	}{
		"RequestLimitExceeded":         {provider.Unavailable, provider.ReasonPlatformThrottled},
		"InsufficientInstanceCapacity": {provider.Exhausted, provider.ReasonCapacityExhausted},
		"VcpuLimitExceeded":            {provider.Exhausted, provider.ReasonQuotaExceeded},
		"UnauthorizedOperation":        {provider.Unauthorized, provider.ReasonPermissionDenied},
		"ExpiredToken":                 {provider.Unauthorized, provider.ReasonCredentialsRefused},
		"InvalidAMIID.NotFound":        {provider.Invalid, provider.ReasonImageNotFound},
		"InvalidSubnetID.NotFound":     {provider.Invalid, provider.ReasonNetworkNotFound},
		"InvalidVolume.NotFound":       {provider.Invalid, provider.ReasonNotFound},
		"InvalidParameterValue":        {provider.Invalid, provider.ReasonPlatformRefused},
		"DependencyViolation":          {provider.Unavailable, provider.ReasonPlatformConflict},
		"OperationNotPermitted":        {provider.InUse, provider.ReasonDeletionRefused},
		"IdempotentParameterMismatch":  {provider.Invalid, provider.ReasonAttemptSpent},
	} {
		said := &smithy.GenericAPIError{Code: code, Message: "You may not. Encoded authorization failure message: aGVsbG8"}
		err := apiError("try", &smithy.OperationError{ServiceID: "EC2", OperationName: "X", Err: said})
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || e.Kind != want.kind || e.Reason != want.reason || e.Hint == "" {
			t.Errorf("%s: %+v", code, e)
		}
		if e.Err.Error() != code+": You may not" {
			t.Errorf("%s: the text is %q", code, e.Err)
		}
	}
}
