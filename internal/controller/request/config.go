// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons of the Ready condition that all kinds of requests share.
const (
	ReasonNoConfig     = "ProviderConfigNotFound"
	ReasonOwnerMissing = provider.ReasonOwnerMissing
	ReasonOwnerTaken   = "OwnerTaken"
	ReasonSelfHosted   = "SelfHosted"
)

// Config returns the ProviderConfig of that name, or nil if there is none.
func Config(ctx context.Context, r client.Reader, name types.NamespacedName) (*v1alpha1.ProviderConfig, error) {
	c := &v1alpha1.ProviderConfig{}
	err := r.Get(ctx, name, c)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return c, err
}

// Concerns reports whether a request is any business of provider t. Without its
// ProviderConfig only a claim shows that; and what is being deleted without a claim
// needs nothing.
func Concerns(t v1alpha1.ProviderType, config *v1alpha1.ProviderConfig, c *Claim) bool {
	if config != nil && config.Spec.Provider != t {
		return false
	}
	return c.Held() || config != nil && c.Object.GetDeletionTimestamp().IsZero()
}

// Connect returns the platform of a ProviderConfig; nil is a missing one.
func (c *Claim) Connect(ctx context.Context, s *session.Sessions, config *v1alpha1.ProviderConfig, name types.NamespacedName) (*provider.Platform, error) {
	if config != nil {
		if err := c.granted(config); err != nil {
			return nil, err
		}
		return c.connect(ctx, s, config)
	}
	return nil, &provider.Error{
		Kind: provider.Unavailable, Reason: ReasonNoConfig, Op: "look after " + c.What,
		Err:  fmt.Errorf("ProviderConfig %s does not exist", name),
		Hint: "create it again; without it nothing on the platform can be watched or deleted",
	}
}

// connect returns a connection to the platform of the request. One that was opened while
// another platform answered is replaced once it does not any more.
func (c *Claim) connect(ctx context.Context, s *session.Sessions, config *v1alpha1.ProviderConfig) (*provider.Platform, error) {
	name := client.ObjectKeyFromObject(config)
	p, err := s.Platform(ctx, config)
	if err != nil {
		return nil, err
	}
	if err = c.joins(config, p); err != nil {
		if now, failed := s.Identify(ctx, name, p); failed != nil || p.Identity.Compare(now) != provider.Different {
			return nil, err
		}
		if p, err = s.Platform(ctx, config); err == nil {
			err = c.joins(config, p)
		}
	}
	if err != nil {
		return nil, err
	}
	c.identify = func(ctx context.Context) (provider.Identity, error) { return s.Identify(ctx, name, p) }
	return p, nil
}

// Matching returns the requests of a kind whose index has the value.
func Matching(ctx context.Context, r client.Reader, list client.ObjectList, index, value string) []reconcile.Request {
	if err := r.List(ctx, list, client.MatchingFields{index: value}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	found := make([]reconcile.Request, 0, meta.LenList(list))
	_ = meta.EachListItem(list, func(o runtime.Object) error { // fails for what is no list only
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o.(client.Object))})
		return nil
	})
	return found
}

// OfSecret maps a Secret to the requests of all ProviderConfigs that name it.
func OfSecret(r client.Reader, ofConfig handler.MapFunc) handler.MapFunc {
	return func(ctx context.Context, secret client.Object) []reconcile.Request {
		var found []reconcile.Request
		for _, config := range session.ConfigsOf(ctx, r, secret) {
			found = append(found, ofConfig(ctx, config)...)
		}
		return found
	}
}
