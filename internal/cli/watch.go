// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errGone is what watching an object ends with that is deleted.
var errGone = errors.New("deleted")

// watch shows an object to see, now and after each change, until that is
// content. A watch that the server ends is taken up again.
func (o *operation) watch(key types.NamespacedName, list client.ObjectList, see func(client.Object) bool) error {
	for {
		w, err := o.client.Watch(o.ctx, list, client.InNamespace(key.Namespace), client.MatchingFieldsSelector{
			Selector: fields.OneTermEqualSelector("metadata.name", key.Name),
		})
		if err == nil {
			var done bool
			if done, err = consume(w, see); done || errors.Is(err, errGone) {
				return err
			}
		}
		if o.ctx.Err() != nil {
			return o.ended()
		}
		if err != nil && !apierrors.IsResourceExpired(err) {
			return fmt.Errorf("watch %s: %w", key, err)
		}
	}
}

func consume(w apiwatch.Interface, see func(client.Object) bool) (done bool, err error) {
	defer w.Stop()
	for e := range w.ResultChan() {
		switch e.Type {
		case apiwatch.Added, apiwatch.Modified:
			if see(e.Object.(client.Object)) {
				return true, nil
			}
		case apiwatch.Deleted:
			return false, errGone
		case apiwatch.Bookmark:
		case apiwatch.Error:
			return false, apierrors.FromObject(e.Object)
		}
	}
	return false, nil
}

// ended tells why the operation came to its end.
func (o *operation) ended() error {
	o.cancel()
	if err := o.group.Wait(); err != nil {
		return err
	}
	return context.Cause(o.ctx)
}

// awaitGone waits until an object does not exist.
func (o *operation) awaitGone(object client.Object) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := o.client.Get(o.ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		select {
		case <-o.ctx.Done():
			return o.ended()
		case <-tick.C:
		}
	}
}
