// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// journal is the record of the last move of a plane: a
// ConfigMap beside the ClusterBootstrap.
type journal struct {
	Move     string // id of the move
	Stage    Stage
	Epoch    int64
	From, To string // kinds of the planes
	Cause    string // why the move was rolled back
	// Made and Report are on To only: the objects that the move has created, and the
	// result of the comparison.
	Made   []ref
	Report *Report
}

// JournalName is the name of the ConfigMap with the journal of a ClusterBootstrap's
// moves, in its namespace.
func JournalName(bootstrap string) string { return bootstrap + "-pivot" }

// ended reports whether a move is complete or rolled back.
func (j *journal) ended() bool { return j.Stage == Done || j.Stage == RolledBack }

func (j *journal) data() (map[string]string, error) {
	out := map[string]string{
		"move": j.Move, "stage": string(j.Stage), "epoch": strconv.FormatInt(j.Epoch, 10), "from": j.From, "to": j.To,
	}
	if j.Cause != "" {
		out["cause"] = j.Cause
	}
	if len(j.Made) > 0 {
		data, err := json.Marshal(j.Made)
		if err != nil {
			return nil, err
		}
		out["made"] = string(data)
	}
	if j.Report != nil {
		data, err := json.MarshalIndent(j.Report, "", "  ")
		if err != nil {
			return nil, err
		}
		out["report"] = string(data)
	}
	return out, nil
}

func parseJournal(data map[string]string) (*journal, error) {
	j := &journal{Move: data["move"], Stage: Stage(data["stage"]), From: data["from"], To: data["to"], Cause: data["cause"]}
	var err error
	if j.Epoch, err = strconv.ParseInt(data["epoch"], 10, 64); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	if text, ok := data["made"]; ok {
		if err := json.Unmarshal([]byte(text), &j.Made); err != nil {
			return nil, fmt.Errorf("made: %w", err)
		}
	}
	if text, ok := data["report"]; ok {
		j.Report = &Report{}
		if err := json.Unmarshal([]byte(text), j.Report); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	return j, nil
}

// readJournal returns nil where no move has been.
func readJournal(ctx context.Context, c client.Reader, bootstrap types.NamespacedName) (*journal, *unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(core("ConfigMap"))
	key := types.NamespacedName{Namespace: bootstrap.Namespace, Name: JournalName(bootstrap.Name)}
	err := c.Get(ctx, key, o)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read journal %s: %w", key, err)
	}
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return nil, nil, finalf("journal %s cannot be read: %w; delete the ConfigMap if no move is under way", key, err)
	}
	j, err := parseJournal(data)
	if err != nil {
		return nil, nil, finalf("journal %s cannot be read: %w; delete the ConfigMap if no move is under way", key, err)
	}
	return j, o, nil
}

// enter writes a stage to both planes. To comes first: a plane that From's
// journal names as the destination then knows of the move, and can clean up.
func (r *run) enter(ctx context.Context, s Stage) error {
	r.stage, r.journal.Stage = s, s
	if err := r.retry(ctx, func() error { return r.write(ctx, r.to, r.journal, nil) }); err != nil {
		return err
	}
	short := r.journal
	short.Made, short.Report = nil, nil
	if err := r.retry(ctx, func() error { return r.write(ctx, r.from, short, r.claim(s)) }); err != nil {
		return err
	}
	r.begun = true
	if s == Switch { // called between the two halves of the switch
		return nil
	}
	return r.at(s)
}

// at lets a test end the move here.
func (r *run) at(s Stage) error {
	if r.At == nil {
		return nil
	}
	if err := r.At(s); err != nil {
		return final{&crash{err}}
	}
	return nil
}

// crash ends a move without a rollback.
type crash struct{ error }

func (c *crash) Unwrap() error { return c.error }

// errOtherMove means that another move has begun on From, to another plane.
var errOtherMove = finalf("another move of this cluster has begun in the meantime; wait until it ends, then run the command again")

// claim returns the check that lets this move write From's journal at a stage. Any move
// may begin that finds From in charge, and of several the one that began last
// continues. Once From is fenced, the fence decides.
func (r *run) claim(s Stage) func(context.Context, *journal) error {
	if s == Prepare {
		return r.unfenced
	}
	if s == Retire || s == Done {
		return nil
	}
	return r.begunHere
}

// unfenced returns an error if another move has fenced From.
func (r *run) unfenced(ctx context.Context, _ *journal) error {
	cb, err := readBootstrap(ctx, r.from.Client, r.Bootstrap)
	if err != nil || cb == nil || !r.fencedByOther(cb) {
		return err
	}
	return errOtherMove
}

// begunHere returns an error if a journal is not that of this move.
func (r *run) begunHere(_ context.Context, known *journal) error {
	if known == nil || known.Move != r.journal.Move {
		return errOtherMove
	}
	return nil
}

// write writes the journal to a plane, if it may replace the one there. After a conflict
// it checks the new one.
func (r *run) write(ctx context.Context, s Plane, j journal, may func(context.Context, *journal) error) error {
	known, o, err := readJournal(ctx, s.Client, r.Bootstrap)
	if err != nil {
		return err
	}
	if may != nil {
		if err := may(ctx, known); err != nil {
			return err
		}
	}
	data, err := j.data()
	if err != nil {
		return err
	}
	if o == nil {
		o = r.newJournal()
		if err := unstructured.SetNestedStringMap(o.Object, data, "data"); err != nil {
			return err
		}
		err = s.Client.Create(ctx, o, fieldOwner)
	} else {
		if err := unstructured.SetNestedStringMap(o.Object, data, "data"); err != nil {
			return err
		}
		err = s.Client.Update(ctx, o, fieldOwner)
	}
	return r.refused("write", s, o, err)
}

func (r *run) newJournal() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(core("ConfigMap"))
	o.SetNamespace(r.Bootstrap.Namespace)
	o.SetName(JournalName(r.Bootstrap.Name))
	o.SetLabels(map[string]string{v1alpha1.LabelClusterBootstrap: r.Bootstrap.Name})
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationClusterID: r.clusterID})
	return o
}
