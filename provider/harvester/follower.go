// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// rewatch is the pause before a watch that has ended is opened again; it grows
	// to rewatchMost while that fails.
	rewatch     = time.Second
	rewatchMost = 10 * time.Second
	// quiet is how long a watch may be without a word. A server that works sends a
	// bookmark once a minute.
	quiet = 90 * time.Second
	// page is how many objects are listed at once.
	page = 500
)

// follower pushes the changes of one kind. It lists before each watch and compares
// with what it has seen: so nothing is missed between two watches, and without the
// permission to watch a list every few seconds takes its place.
type follower struct {
	*machines
	kind func() client.ObjectList
	out  chan<- provider.MachineRef
	seen map[string]sight
}

// sight is an object as it was last seen.
type sight struct {
	ref     provider.MachineRef
	version string
}

// follow lists and watches until the context ends. While it can do neither, it
// pushes a reference to no machine: all have to be looked at.
func (f *follower) follow(ctx context.Context) {
	for pause := rewatch; ctx.Err() == nil; {
		version, err := f.compare(ctx)
		if err != nil {
			f.push(ctx, provider.MachineRef{})
		} else {
			err = f.watch(ctx, version)
		}
		if pause = min(pause*2, rewatchMost); err == nil {
			pause = rewatch
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// compare lists all objects and pushes those that differ from what was seen. It
// returns the version to watch from.
func (f *follower) compare(ctx context.Context) (version string, _ error) {
	now := map[string]sight{}
	for next := ""; ; {
		list := f.kind()
		if err := f.api.List(ctx, list, client.InNamespace(f.spec.Namespace), client.HasLabels{tag.OwnerID}, client.Limit(page), client.Continue(next)); err != nil {
			return "", err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			o := item.(client.Object)
			if !original(o) {
				return nil
			}
			now[o.GetName()] = sightOf(o)
			if f.seen[o.GetName()] != sightOf(o) && !uneventful(o) {
				f.push(ctx, sightOf(o).ref)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		version = list.GetResourceVersion()
		if next = list.GetContinue(); next == "" {
			break
		}
	}
	for name, s := range f.seen {
		if _, there := now[name]; !there {
			f.push(ctx, s.ref)
		}
	}
	f.seen = now
	return version, nil
}

// watch pushes changes until the watch ends or falls silent. The error is for a
// watch that cannot be opened.
func (f *follower) watch(ctx context.Context, version string) error {
	w, err := f.api.Watch(ctx, f.kind(), client.InNamespace(f.spec.Namespace), client.HasLabels{tag.OwnerID},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
	if err != nil {
		return err
	}
	defer w.Stop()
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-silence.C:
			return nil
		case e, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if e.Type == watch.Error {
				return errors.New("the watch was ended by the server")
			}
			silence.Reset(quiet)
			f.event(ctx, e)
		}
	}
}

func (f *follower) event(ctx context.Context, e watch.Event) {
	o, ok := e.Object.(client.Object)
	if !ok || e.Type == watch.Bookmark || !original(o) {
		return
	}
	if e.Type == watch.Deleted {
		delete(f.seen, o.GetName())
		f.push(ctx, sightOf(o).ref)
		return
	}
	f.seen[o.GetName()] = sightOf(o)
	if !uneventful(o) {
		f.push(ctx, sightOf(o).ref)
	}
}

func (f *follower) push(ctx context.Context, ref provider.MachineRef) {
	select {
	case f.out <- ref:
	case <-ctx.Done():
	}
}

func sightOf(o client.Object) sight {
	return sight{provider.MachineRef{Name: o.GetName(), Owner: provider.OwnerOf(tagsOf(o))}, o.GetResourceVersion()}
}
