// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// connection connects to a cluster that manages itself, with the credentials of the
// fenced plane on this machine.
type connection struct {
	workspace.Workspace
	local   client.Client
	cluster *v1alpha1.ClusterBootstrap
	dial    workspace.Dialer

	config  *rest.Config  // nil: not known yet
	client  client.Client // of the cluster, with calls that end after a while
	renewed bool          // the credentials, because the cluster refused them
}

// ask reads the ClusterBootstrap from the cluster. If the cluster refuses the
// credentials of this machine, it retries once with new ones.
func (v *connection) ask(ctx context.Context) (*v1alpha1.ClusterBootstrap, error) {
	if v.config == nil {
		if err := v.prepare(ctx); err != nil {
			return nil, err
		}
	}
	there, err := readOwnBootstrap(ctx, v.Workspace, v.client)
	if v.renewed || !apierrors.IsUnauthorized(err) {
		return there, err
	}
	v.renewed = true
	if _, failed := ReadCredential(ctx, v.local, v.cluster, bootstrap.SecretKubeconfig, v.dial, true); failed != nil {
		return nil, &permanentError{fmt.Errorf("%w; %w", err, failed)}
	}
	if err := v.prepare(ctx); err != nil {
		return nil, err
	}
	return readOwnBootstrap(ctx, v.Workspace, v.client)
}

// prepare creates the client. An error of the plane on this machine is not an answer of
// the cluster, and is permanent, except that no node renews the credentials.
func (v *connection) prepare(ctx context.Context) error {
	config, err := RESTConfig(ctx, v.local, v.cluster, v.dial)
	if err == nil {
		v.config = config
		v.client, err = newBoundedClient(config)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bootstrap.ErrExpired):
		return fmt.Errorf("%s manages itself, and does not answer: %w", v.Name, err)
	}
	return &permanentError{errors.New(err.Error())}
}

// readOwnBootstrap reads the ClusterBootstrap from a cluster that manages itself.
func readOwnBootstrap(ctx context.Context, w workspace.Workspace, c client.Reader) (*v1alpha1.ClusterBootstrap, error) {
	var list v1alpha1.ClusterBootstrapList
	err := c.List(ctx, &list)
	switch {
	case Answered(err):
		return nil, refusedError(w, err)
	case err != nil:
		return nil, silentError(w, err)
	}
	if cb := workspace.ClusterNamed(&list, w.Name); cb != nil {
		return cb, nil
	}
	return nil, fmt.Errorf("%s manages itself, and has lost its ClusterBootstrap%s; restore it from a backup", w.Name, describeOthers(&list))
}

// describeOthers lists the other clusters of a plane, as text.
func describeOthers(list *v1alpha1.ClusterBootstrapList) string {
	var others []string
	for _, cb := range list.Items {
		others = append(others, cb.Spec.Cluster.Name)
	}
	if len(others) == 0 {
		return ""
	}
	return ", but holds " + strings.Join(others, ", ")
}

// Answered reports whether an error is the answer of an API server.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) || meta.IsNoMatchError(err)
}

// permanentError is an error that a retry does not change.
type permanentError struct{ error }

func (l *permanentError) Unwrap() error { return l.error }

// IsPermanent reports whether a retry does not change an error.
func IsPermanent(err error) bool {
	_, is := errors.AsType[*permanentError](err)
	return is
}

// refusedError returns the error for a cluster that manages itself and answers with an
// error.
func refusedError(w workspace.Workspace, err error) error {
	hint := "look at its API server and etcd"
	switch {
	case apierrors.IsUnauthorized(err):
		hint = "compare the clocks of its nodes with the one here"
	case apierrors.IsForbidden(err):
		hint = "grant its administrator that permission"
	case meta.IsNoMatchError(err):
		hint = "install chart butler-crds on it"
	}
	answered := fmt.Errorf("%s manages itself, and answers with an error: %w; %s", w.Name, err, hint)
	if operation.IsTransient(err) {
		return answered
	}
	return &permanentError{answered}
}

// silentError returns the error for one that does not answer.
func silentError(w workspace.Workspace, err error) error {
	if !w.Rehearsal {
		return fmt.Errorf("%s manages itself, and does not answer: %w; check that it is up and reachable from here", w.Name, err)
	}
	if _, _, running := sim.Running(w.SimDir()); !running {
		return fmt.Errorf("%s manages itself, and its simulated platform is stopped; run the bootstrap command again to start it", w.Name)
	}
	return fmt.Errorf("%s manages itself, and does not answer: %w", w.Name, err)
}
