// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

// startupPoll is how often Start asks for what the API server takes up in its own
// time and does not announce.
const startupPoll = 20 * time.Millisecond

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, kubevirtv1.AddToScheme, harvesterv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// put creates an object, or makes the one that is there equal to it.
func put(ctx context.Context, c client.Client, o client.Object) error {
	err := c.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return describe("create", o, err)
	}
	old := o.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), old); err != nil {
		return describe("read", o, err)
	}
	o.SetResourceVersion(old.GetResourceVersion())
	return describe("update", o, c.Update(ctx, o))
}

// add creates an object unless it is there.
func add(ctx context.Context, c client.Client, o client.Object) error {
	return describe("create", o, ignoreExisting(c.Create(ctx, o)))
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func describe(verb string, o client.Object, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %T %q: %w", verb, o, client.ObjectKeyFromObject(o), err)
}

// await asks until done; it is for start-up alone.
func await(ctx context.Context, what string, done func() (bool, error)) error {
	tick := time.NewTicker(startupPoll)
	defer tick.Stop()
	for {
		ok, err := done()
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for %s: %w", what, ctx.Err()), err)
		case <-tick.C:
		}
	}
}
