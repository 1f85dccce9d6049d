// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
)

func (s *Source) manifest(ctx context.Context, a addon.Addon) (Content, error) {
	f, err := s.place.manifest(ctx, a)
	if err != nil {
		return Content{}, err
	}
	objects, err := objectsIn(f.data)
	if err != nil {
		return Content{}, fmt.Errorf("%s from %s cannot be read: %w", manifestOf(a), f.origin, err)
	}
	return Content{Objects: inOrder(objects), Origin: f.origin, Digest: f.digest}, nil
}

// objectsIn are the objects of a file, those of lists among them.
func objectsIn(data []byte) (out []*unstructured.Unstructured, err error) {
	documents, err := yaml.ToUnstructured(data)
	if err != nil {
		return nil, err
	}
	for i := range documents {
		d := &documents[i]
		if !d.IsList() {
			out = append(out, d)
			continue
		}
		err := d.EachListItem(func(o runtime.Object) error {
			item, ok := o.(*unstructured.Unstructured)
			if ok {
				out = append(out, item)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, complete(out)
}

func complete(objects []*unstructured.Unstructured) error {
	if len(objects) == 0 {
		return errors.New("it has no objects")
	}
	for i, o := range objects {
		if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
			return fmt.Errorf("object %d of it lacks apiVersion, kind or metadata.name", i+1)
		}
	}
	return nil
}

// inOrder sorts objects so that each can be applied after those before it:
// webhooks come last, after their servers. Objects lose
// what a cluster alone may say about them.
func inOrder(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range objects {
		clean(o)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects
}

func rank(o *unstructured.Unstructured) int {
	const workloads, rest, hooks = 9, 10, 11
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	case "ServiceAccount", "PriorityClass":
		return 2
	case "Role", "ClusterRole":
		return 3
	case "RoleBinding", "ClusterRoleBinding":
		return 4
	case "Secret", "ConfigMap":
		return 5
	case "Service":
		return 6
	case "Issuer", "ClusterIssuer":
		return 7
	case "Certificate":
		return 8
	case "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob", "Pod":
		return workloads
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return hooks
	}
	return rest
}
