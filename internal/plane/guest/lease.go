// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/butlerdotdev/butler/internal/lock"
)

// leaseName is the name of the lease of a namespace. Commands hold it, so that copies of
// a state directory on two machines never work at the same time.
const leaseName = "butleradm"

// leaseTime is how long after its last renewal a lease is free, as that of a process that
// was killed.
const leaseTime = 10 * time.Second

// releasePatience is how long a plane has to take a lease back.
const releasePatience = 3 * time.Second

// hold takes the lease, and ends the plane when it is lost.
func (p *Plane) hold(ctx context.Context) error {
	lasts := cmp.Or(p.options.leaseTime, leaseTime)
	taken, left := make(chan struct{}), make(chan struct{})
	lease, err := p.lease()
	if err != nil {
		return err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lease, LeaseDuration: lasts, RenewDeadline: lasts * 7 / 10, RetryPeriod: lasts / 10, Name: leaseName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(taken) },
			OnStoppedLeading: func() { p.end(fmt.Errorf("the lease of %s was lost; run the command again", p.options)) },
		},
	})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop, p.left = stop, left
	go func() {
		defer close(left)
		elector.Run(working)
		release(context.WithoutCancel(ctx), lease)
	}()
	select {
	case <-taken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lasts * 3 / 2): // one that is not renewed is free by then
		return fmt.Errorf("%s is %w by %s; stop that first", p.options, lock.ErrHeld, elector.GetLeader())
	}
}

// release gives a lease free that is still held, so that the next command need not wait
// until it has run out. It would, if this fails.
func release(ctx context.Context, lease resourcelock.Interface) {
	ctx, cancel := context.WithTimeout(ctx, releasePatience)
	defer cancel()
	record, _, err := lease.Get(ctx)
	if err != nil || record.HolderIdentity != lease.Identity() {
		return
	}
	record.HolderIdentity = ""
	_ = lease.Update(ctx, *record)
}

// lease has an identity that is never used again: a process must not take another's lease
// for its own.
func (p *Plane) lease() (resourcelock.Interface, error) {
	api, err := coordinationv1.NewForConfig(p.config)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: p.options.Namespace, Name: leaseName},
		Client:     api,
		LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("%s on %s (%s)", p.options.Holder, host, uuid.NewString())},
	}, nil
}
