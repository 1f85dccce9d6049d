// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
)

// Member is a member of the etcd cluster.
type Member struct {
	ID       uint64
	Hostname string // empty: it was added, and has never run
	Address  string // where other members find it
	Learner  bool   // not voting yet
}

// Members asks a control plane for the members of etcd.
func (c *Client) Members(ctx context.Context, address string) ([]Member, error) {
	var members []Member
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		reply, err := api.EtcdMemberList(ctx, &machine.EtcdMemberListRequest{QueryLocal: true})
		for _, message := range reply.GetMessages() {
			for _, m := range message.GetMembers() {
				members = append(members, member(m))
			}
		}
		return err
	})
	return members, failed("list etcd members", address, err)
}

func member(m *machine.EtcdMember) Member {
	out := Member{ID: m.GetId(), Hostname: m.GetHostname(), Learner: m.GetIsLearner()}
	for _, peer := range m.GetPeerUrls() {
		if u, err := url.Parse(peer); err == nil {
			out.Address = u.Hostname()
		}
	}
	return out
}

// RemoveMember removes a member from etcd, by way of another control
// plane: one whose machine will not come back counts for the majority until then.
func (c *Client) RemoveMember(ctx context.Context, address string, id uint64) error {
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		return api.EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: id})
	})
	return failed("remove etcd member", address, err)
}

// Service is a service of Talos itself, such as etcd or kubelet.
type Service struct {
	ID      string
	State   string // Running, Preparing, Waiting, …
	Message string // last event
	Healthy bool   // known to be: one that has just started is not yet
}

// Up reports whether the service runs and has shown that it is well.
func (s Service) Up() bool { return s.State == "Running" && s.Healthy }

// Services asks a configured node for its services.
func (c *Client) Services(ctx context.Context, address string) ([]Service, error) {
	var services []Service
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		reply, err := api.ServiceList(ctx)
		for _, message := range reply.GetMessages() {
			for _, info := range message.GetServices() {
				services = append(services, service(info))
			}
		}
		return err
	})
	return services, failed("list services", address, err)
}

// Logs returns the last lines of the log of a service of a configured node.
func (c *Client) Logs(ctx context.Context, address, id string, lines int32) (out []byte, err error) {
	err = c.call(address, c.mutual(), func(api *client.Client) error {
		stream, err := api.MachineClient.Logs(ctx, &machine.LogsRequest{Namespace: constants.SystemContainerdNamespace, Id: id, TailLines: lines})
		if err != nil {
			return err
		}
		for {
			data, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			out = append(out, data.GetBytes()...)
		}
	})
	return out, failed("read the log of "+id, address, err)
}

func service(info *machine.ServiceInfo) Service {
	s := Service{
		ID:      info.GetId(),
		State:   info.GetState(),
		Healthy: info.GetHealth().GetHealthy() && !info.GetHealth().GetUnknown(),
	}
	if events := info.GetEvents().GetEvents(); len(events) > 0 {
		s.Message = events[len(events)-1].GetMsg()
	}
	return s
}

// APIServerReady reports whether the Kubernetes API server of a control plane itself is
// ready, as its kubelet sees it. Node is the name of the control plane.
func (c *Client) APIServerReady(ctx context.Context, address, node string) (ready bool, err error) {
	err = c.call(address, c.mutual(), func(api *client.Client) error {
		pod, err := safe.StateGetByID[*k8s.StaticPodStatus](ctx, api.COSI, "kube-system/kube-apiserver-"+node)
		if state.IsNotFoundError(err) {
			return nil
		}
		if err == nil {
			ready = isReady(pod.TypedSpec().PodStatus)
		}
		return err
	})
	return ready, failed("get the status of the API server", address, err)
}

// isReady reads the condition Ready of a pod's status.
func isReady(status map[string]any) bool {
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
			return condition["status"] == "True"
		}
	}
	return false
}
