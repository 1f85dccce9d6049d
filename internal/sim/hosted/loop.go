// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookPeriod is how often objects are looked at that wait for something else, and calmPeriod how
// often all others: pods and planes end without a change of the object.
const (
	lookPeriod = 300 * time.Millisecond
	calmPeriod = 2 * time.Second
)

// loop is a small controller: it looks at all objects of a kind whenever one of them changes,
// and while one of them waits.
type loop struct {
	kind schema.GroupVersionKind
	// resource is the plural of the kind.
	resource string
	// pass looks at one object and returns whether it waits for something.
	pass func(context.Context, client.Client, *unstructured.Unstructured) (waits bool, err error)
	log  *slog.Logger
}

// run ends with ctx. A kind that is not defined is looked for again.
func (l loop) run(ctx context.Context, config *rest.Config) error {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	signal := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
	informer := factory.ForResource(schema.GroupVersionResource{Group: l.kind.Group, Version: l.kind.Version, Resource: l.resource})
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: signal, UpdateFunc: func(_, o any) { signal(o) }, DeleteFunc: signal,
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	l.follow(ctx, c, changed)
	return nil
}

func (l loop) follow(ctx context.Context, c client.Client, changed <-chan struct{}) {
	last := map[string]string{}
	for next := time.Duration(0); ; {
		tick := time.NewTimer(next)
		if next == 0 {
			tick.Stop() // there is no object
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-changed:
		case <-tick.C:
		}
		tick.Stop()
		next = l.look(ctx, c, last)
	}
}

// look passes over all objects, and returns when to look again; 0: when there is one. An error
// is logged when it is another than the last one.
func (l loop) look(ctx context.Context, c client.Client, last map[string]string) (next time.Duration) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(l.kind.GroupVersion().WithKind(l.kind.Kind + "List"))
	if err := c.List(ctx, all); err != nil {
		if meta.IsNoMatchError(err) {
			return 0
		}
		return calmPeriod
	}
	for i := range all.Items {
		o := &all.Items[i]
		key := o.GetNamespace() + "/" + o.GetName()
		more, err := l.pass(ctx, c, o)
		if more || err != nil {
			next = lookPeriod
		} else if next == 0 {
			next = calmPeriod
		}
		text := ""
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			text = err.Error()
		}
		if text != "" && text != last[key] {
			l.log.Warn("a control plane does not get on", "kind", l.kind.Kind, "object", key, "error", err)
		}
		last[key] = text
	}
	return next
}
