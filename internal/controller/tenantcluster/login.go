// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// loginTTL is for how long the credentials of a platform are used before they are read
	// again, once for all clusters on it, unless Options say otherwise.
	loginTTL = 30 * time.Second
	// imageTTL is for how long what the platform said of an image is taken to be so.
	imageTTL = 10 * time.Minute
)

// logins are the credentials of platforms, shared by all clusters on them.
type logins struct {
	mu  sync.Mutex
	all map[types.NamespacedName]login
}

type login struct {
	data    map[string][]byte
	version string // of the Secret
	read    time.Time
}

// login returns the data of a Secret with credentials. Errors are not remembered.
func (r *Reconciler) login(ctx context.Context, key types.NamespacedName) (map[string][]byte, error) {
	r.logins.mu.Lock()
	known, has := r.logins.all[key]
	r.logins.mu.Unlock()
	if has && r.Clock().Sub(known.read) < r.LoginTTL {
		return known.data, nil
	}
	fresh, _, err := r.readLogin(ctx, key)
	return fresh.data, err
}

// readLogin reads a Secret and reports whether it is another one than before.
func (r *Reconciler) readLogin(ctx context.Context, key types.NamespacedName) (fresh login, changed bool, err error) {
	secret := &corev1.Secret{}
	err = r.Live.Get(ctx, key, secret)
	r.logins.mu.Lock()
	defer r.logins.mu.Unlock()
	if err != nil {
		_, known := r.logins.all[key]
		delete(r.logins.all, key)
		return login{}, known, err
	}
	if r.logins.all == nil {
		r.logins.all = map[types.NamespacedName]login{}
	}
	before, known := r.logins.all[key]
	fresh = login{data: secret.Data, version: secret.ResourceVersion, read: r.Clock()}
	r.logins.all[key] = fresh
	return fresh, known && before.version != fresh.version, nil
}

func (l *logins) keys() (out []types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.all {
		out = append(out, key)
	}
	return out
}

// followLogins reads all credentials in use again and again, and reports changes: this
// controller may watch no Secrets.
func (r *Reconciler) followLogins(changed func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(r.LoginTTL)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			for _, key := range r.logins.keys() {
				if _, is, _ := r.readLogin(ctx, key); is && ctx.Err() == nil {
					changed(ctx)
				}
			}
		}
	}
}

// images are the storage classes of images, by image and credentials.
type images struct {
	mu  sync.Mutex
	all map[imageKey]imageClass
}

type imageKey struct {
	credentials [sha256.Size]byte
	image       string
}

type imageClass struct {
	class string
	read  time.Time
}

// get returns what is known of an image, empty if it is not known any more.
func (i *images) get(key imageKey, now time.Time) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if known := i.all[key]; now.Sub(known.read) < imageTTL {
		return known.class
	}
	return ""
}

func (i *images) put(key imageKey, class string, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all == nil {
		i.all = map[imageKey]imageClass{}
	}
	for old, known := range i.all {
		if now.Sub(known.read) >= imageTTL {
			delete(i.all, old)
		}
	}
	i.all[key] = imageClass{class, now}
}
