// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	reasonEtcdStarts = "EtcdStarts"
	reasonEtcdWaits  = "WaitingForEtcd"
	// etcdPatience is how long etcd may take before it is asked to start again:
	// Talos breaks off what it is doing, the download of etcd's image included.
	etcdPatience = 5 * time.Minute
	// bootPatience is how long a machine may take to show that it has kept its
	// configuration.
	bootPatience = 30 * time.Second
)

// bootstrapEtcd makes the first control plane the first member of etcd. It is
// always the same node that is asked, Talos refuses as soon as there is data,
// and once a kubeconfig was fetched no node is asked again: a node that lost its
// disk must not start an empty cluster under the old name.
func bootstrapEtcd(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Status.Phase == v1alpha1.BootstrapReady {
		return nil, nil
	}
	if _, err := s.readSecret(ctx, SecretKubeconfig); !apierrors.IsNotFound(err) {
		return nil, err
	}
	client, err := s.talos()
	if err != nil {
		return nil, err
	}
	// A machine without power has forgotten that it was asked.
	forgotten := false
	_, err = fromAny(ctx, s, func(ctx context.Context, address string) (bool, error) {
		runs, err := etcdRuns(ctx, client, address)
		if address == s.Status.Machines[0].IPAddress {
			forgotten = talos.Off(err)
		}
		return runs, err
	})
	if err == nil {
		return nil, nil
	}
	if d := s.since(reasonEtcdStarts); d >= 0 && d < etcdPatience && !forgotten {
		return s.etcdStarts(), nil
	}
	if err := s.current(ctx); err != nil {
		return nil, err
	}
	return s.startEtcd(ctx, client)
}

// current is a conflict if a cache has shown this walk an earlier status: etcd
// may have been asked to start since.
func (s *Session) current(ctx context.Context) error {
	now := &v1alpha1.ClusterBootstrap{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(s.ClusterBootstrap), now); err != nil {
		return err
	}
	if now.ResourceVersion != s.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion().WithResource("clusterbootstraps").GroupResource(), s.Name, errors.New("it has changed"))
	}
	return nil
}

// startEtcd asks the first control plane. It is ready when its kubelet runs: an
// earlier request would break off the download of etcd's image.
func (s *Session) startEtcd(ctx context.Context, client *talos.Client) (*Obstacle, error) {
	first := &s.Status.Machines[0]
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	err := serviceUp(ctx, client, first.IPAddress, "kubelet")
	if err == nil {
		err = s.checkRunning(ctx, client)
	}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		return nil, err
	}
	if err == nil {
		_, err = client.Bootstrap(ctx, first.IPAddress)
	}
	if err == nil {
		s.Status.LastUpdated = &metav1.Time{Time: s.Clock()} // the wait begins again
		return s.etcdStarts(), nil
	}
	message := fmt.Sprintf("%s (%s) is not ready for etcd: %s", first.Name, first.IPAddress, step.Stable(err))
	if s.since(reasonEtcdWaits) > bootPatience && s.isBlank(ctx, client, first) {
		first.TalosConfigured = false
		message = fmt.Sprintf("%s (%s) has lost its configuration and is configured again", first.Name, first.IPAddress)
	}
	return &Obstacle{Reason: reasonEtcdWaits, Message: message, Poll: true}, nil
}

// isBlank recognises a machine that lost its power before Talos was on its disk: it
// is back where it began.
func (s *Session) isBlank(ctx context.Context, client *talos.Client, m *v1alpha1.BootstrapMachineStatus) bool {
	state, _ := probe(ctx, client, m.IPAddress)
	return state == talos.StateMaintenance
}

func (s *Session) etcdStarts() *Obstacle {
	first := s.Status.Machines[0]
	return &Obstacle{Reason: reasonEtcdStarts, Message: fmt.Sprintf("etcd starts on %s (%s)", first.Name, first.IPAddress), Poll: true}
}

// since is how long an obstacle has been unchanged; negative if it does not.
func (s *Session) since(reason string) time.Duration {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionProgressing)
	if c == nil || c.Reason != reason || s.Status.LastUpdated == nil {
		return -1
	}
	return max(s.sinceChange(), 0)
}

// sinceChange is how long the status has been as it is.
func (s *Session) sinceChange() time.Duration {
	if s.Status.LastUpdated == nil {
		return 0
	}
	return s.Clock().Sub(s.Status.LastUpdated.Time)
}

// etcdRuns asks for the service: asking etcd itself for its members would wait
// until it runs.
func etcdRuns(ctx context.Context, client *talos.Client, address string) (bool, error) {
	err := serviceUp(ctx, client, address, "etcd")
	return err == nil, err
}

func serviceUp(ctx context.Context, client *talos.Client, address, id string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	services, err := client.Services(ctx, address)
	if err != nil {
		return err
	}
	for _, service := range services {
		if service.ID == id && service.Up() {
			return nil
		}
		if service.ID == id {
			return fmt.Errorf("service %s is %s: %s", id, service.State, service.Message)
		}
	}
	return fmt.Errorf("service %s is not there", id)
}
