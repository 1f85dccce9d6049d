// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// client is what the reconciler works through: it reads ProviderConfig and Secret
// as from a cache, finds requests by their owner id, can die around every write, and each version of the request is
// kept.
func (f *life) client() client.Client {
	return interceptor.NewClient(f.api, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			return f.get(key, o)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return f.sharing(list, opts)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return f.write("patch", o, p, func(p client.Patch) error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return f.write("patch "+sub, o, p, func(p client.Patch) error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

func (f *life) get(key client.ObjectKey, o client.Object) error {
	switch o := o.(type) {
	case *v1alpha1.ProviderConfig:
		if f.configHidden {
			return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.Group, Resource: "providerconfigs"}, key.Name)
		}
		f.config.DeepCopyInto(o)
	case *corev1.Secret:
		f.secret.DeepCopyInto(o)
	case *metav1.PartialObjectMetadata:
		f.secret.ObjectMeta.DeepCopyInto(&o.ObjectMeta)
	default:
		return fmt.Errorf("read %s: the lab has no %T", key, o)
	}
	return nil
}

func (f *life) write(op string, o client.Object, p client.Patch, do func(client.Patch) error) error {
	f.points.reach("before "+op, f.backend.check)
	if f.Unlocked {
		var err error
		if p, err = unlock(o, p); err != nil {
			return err
		}
	}
	if err := do(p); err != nil {
		f.points.note(op + " refused")
		return err
	}
	f.keep(o)
	f.points.reach("after "+op, f.backend.check)
	return nil
}

// keep adds a version to the history of the request, or of its copy.
func (f *life) keep(o client.Object) {
	if o.GetName() != f.name {
		f.keepCopy(o)
		return
	}
	if !o.GetDeletionTimestamp().IsZero() && len(o.GetFinalizers()) == 0 {
		f.history = append(f.history, nil)
		return
	}
	f.history = append(f.history, o.DeepCopyObject().(client.Object))
}

// unlock takes the resource version out of a patch.
func unlock(o client.Object, p client.Patch) (client.Patch, error) {
	data, err := p.Data(o)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, err
	}
	if m, ok := content["metadata"].(map[string]any); ok {
		delete(m, "resourceVersion")
	}
	data, err = json.Marshal(content)
	return client.RawPatch(p.Type(), data), err
}
