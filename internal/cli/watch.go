// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

// errGone is what watching an object ends with that is deleted.
var errGone = errors.New("deleted")

// watch shows an object to see, now and after each change, until that is
// content. A watch that the server ends is taken up again.
func (o *operation) watch(key types.NamespacedName, list client.ObjectList, see func(client.Object) bool) error {
	for {
		w, err := o.client.Watch(o.ctx, list, client.InNamespace(key.Namespace), byName(key.Name))
		if err == nil {
			var done bool
			if done, err = o.consume(w, key, list, see); done || errors.Is(err, errGone) {
				return err
			}
		}
		if o.ctx.Err() != nil {
			return o.ended()
		}
		switch {
		case err == nil || apierrors.IsResourceExpired(err):
		case o.client != o.local && passing(err):
			// The cluster goes on by itself, and is seen again when it answers.
			if o.unheard != nil {
				o.unheard(err)
			}
			if err := o.rest(knock); err != nil {
				return err
			}
		default:
			return fmt.Errorf("watch %s: %w", key, err)
		}
	}
}

// rest lets some time pass.
func (o *operation) rest(d time.Duration) error {
	select {
	case <-o.ctx.Done():
		return o.ended()
	case <-time.After(d):
		return nil
	}
}

// consume follows a watch that is open. What is gone before it was opened does
// not show in it, so that has to be asked for.
func (o *operation) consume(w apiwatch.Interface, key types.NamespacedName, list client.ObjectList, see func(client.Object) bool) (done bool, err error) {
	defer w.Stop()
	if err := o.client.List(o.ctx, list, client.InNamespace(key.Namespace), byName(key.Name)); err != nil || meta.LenList(list) == 0 {
		if err == nil {
			err = errGone
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
			return false, errGone
		case apiwatch.Bookmark:
		case apiwatch.Error:
			return false, apierrors.FromObject(e.Object)
		}
	}
	return false, nil
}

func byName(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// ended tells why the operation came to its end.
func (o *operation) ended() error {
	o.cancel()
	if err := o.group.Wait(); err != nil {
		return err
	}
	return context.Cause(o.ctx)
}

// awaitGone waits until an object does not exist, and tells what it says.
func (o *operation) awaitGone(object *v1alpha1.ProviderConfig, progress *ui.Reporter) error {
	last := ""
	err := o.watch(client.ObjectKeyFromObject(object), &v1alpha1.ProviderConfigList{}, func(object client.Object) bool {
		c := meta.FindStatusCondition(object.(*v1alpha1.ProviderConfig).Status.Conditions, v1alpha1.ConditionReady)
		if c != nil && c.Status != metav1.ConditionTrue && c.Message != last {
			last = c.Message
			progress.Report(ui.Event{Type: ui.EventWaiting, Message: last})
		}
		return false
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}
