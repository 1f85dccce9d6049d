// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Standing is the state of a plane for a cluster: its fence, epoch and last move.
type Standing struct {
	// Exists is true if the plane has the ClusterBootstrap.
	Exists bool
	// ClusterID is the id of the ClusterBootstrap's cluster.
	ClusterID string
	// Kind of the plane, as the ClusterBootstrap has it.
	Kind  string
	Epoch int64
	// Fenced is why the plane is not in charge; empty if it is.
	Fenced string
	// Move, Stage, From and To are of the last move that the plane took part in;
	// From and To are kinds of planes.
	Move     string
	Stage    Stage
	From, To string
	// Report is that of the move to this plane.
	Report *Report
}

// InCharge reports whether the plane is in charge of the cluster. It depends on the
// fence only, not on the journal.
func (s Standing) InCharge() bool { return s.Exists && s.Fenced == "" }

// Forward reports whether the plane is fenced by a move that is not complete: Run
// continues it, and it cannot be rolled back.
func (s Standing) Forward() bool {
	return s.Fenced != "" && strings.Contains(s.Fenced, s.Move) && s.From == s.Kind && (s.Stage == Switch || s.Stage == Retire)
}

// Read returns the standing of a plane for a cluster.
func Read(ctx context.Context, c client.Reader, bootstrap types.NamespacedName) (Standing, error) {
	var s Standing
	cb, err := readBootstrap(ctx, c, bootstrap)
	if err != nil {
		return s, err
	}
	if cb != nil {
		a := cb.GetAnnotations()
		s = Standing{Exists: true, ClusterID: clusterID(cb), Kind: a[v1alpha1.AnnotationPlane], Fenced: a[v1alpha1.AnnotationFenced]}
		if s.Epoch, err = epoch(cb); err != nil {
			return s, err
		}
	}
	j, _, err := readJournal(ctx, c, bootstrap)
	if err != nil || j == nil {
		return s, err
	}
	s.Move, s.Stage, s.From, s.To, s.Report = j.Move, j.Stage, j.From, j.To, j.Report
	return s, nil
}

// readBootstrap returns nil where there is no ClusterBootstrap of the name.
func readBootstrap(ctx context.Context, c client.Reader, key types.NamespacedName) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind(bootstrapKind))
	err := c.Get(ctx, key, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterBootstrap %s: %w", key, err)
	}
	return o, nil
}

// epoch is 0 on a plane that was never moved.
func epoch(cb *unstructured.Unstructured) (int64, error) {
	text := cb.GetAnnotations()[v1alpha1.AnnotationEpoch]
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, finalf("annotation %s of ClusterBootstrap %s is %q, and must be a number", v1alpha1.AnnotationEpoch, cb.GetName(), text)
	}
	return n, nil
}
