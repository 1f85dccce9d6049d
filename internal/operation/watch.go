// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RetryInterval is how often a cluster that does not answer is asked again.
const RetryInterval = 500 * time.Millisecond

// ErrDeleted is what watching an object ends with that is deleted.
var ErrDeleted = errors.New("deleted")

// Watch shows an object to see, now and after each change, until that is
// content. A watch that the server ends is taken up again.
func (o *Operation) Watch(key types.NamespacedName, list client.ObjectList, see func(client.Object) bool) error {
	for {
		w, err := o.Client().Watch(o.ctx, list, client.InNamespace(key.Namespace), ByName(key.Name))
		if err == nil {
			var done bool
			if done, err = o.consume(w, key, list, see); done || errors.Is(err, ErrDeleted) {
				return err
			}
		}
		if o.ctx.Err() != nil {
			return o.Ended()
		}
		switch {
		case err == nil || apierrors.IsResourceExpired(err):
		case (o.InCharge() == ClusterPlane || o.Plane().OfUser()) && IsTransient(err):
			// The cluster keeps running, and is read again when it answers.
			if o.OnSilence != nil {
				o.OnSilence(err)
			}
			if err := o.Wait(RetryInterval); err != nil {
				return err
			}
		default:
			return fmt.Errorf("watch %s: %w", key, err)
		}
	}
}

// Wait waits for some time.
func (o *Operation) Wait(d time.Duration) error {
	select {
	case <-o.ctx.Done():
		return o.Ended()
	case <-time.After(d):
		return nil
	}
}

// consume follows a watch that is open. What is gone before it was opened does
// not show in it, so that has to be asked for.
func (o *Operation) consume(w apiwatch.Interface, key types.NamespacedName, list client.ObjectList, see func(client.Object) bool) (done bool, err error) {
	defer w.Stop()
	if err := o.Client().List(o.ctx, list, client.InNamespace(key.Namespace), ByName(key.Name)); err != nil || meta.LenList(list) == 0 {
		if err == nil {
			err = ErrDeleted
		}
		return false, err
	}
	for e := range w.ResultChan() {
		switch e.Type {
		case apiwatch.Added, apiwatch.Modified:
			if see(e.Object.(client.Object)) {
				return true, nil
			}
		case apiwatch.Deleted:
			return false, ErrDeleted
		case apiwatch.Bookmark:
		case apiwatch.Error:
			return false, apierrors.FromObject(e.Object)
		}
	}
	return false, nil
}

// ByName selects the objects of one name.
func ByName(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// Ended returns why the operation came to its end.
func (o *Operation) Ended() error {
	if o.cancel == nil { // it has no plane
		return context.Cause(o.ctx)
	}
	o.cancel()
	if err := o.group.Wait(); err != nil {
		return err
	}
	return context.Cause(o.ctx)
}

// IsTransient reports whether an API server that has answered before may well answer
// again: it said nothing, or that it cannot at present.
func IsTransient(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err != nil && !errors.Is(err, context.Canceled)
	}
	code := status.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}
