// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// retry is the pause after an error.
const retry = time.Second

// makes returns objects that a program creates.
type makes func(context.Context, program) ([]*unstructured.Unstructured, error)

// creates is a program that creates objects once and leaves those that exist.
func creates(all ...makes) func(context.Context, program) error {
	return func(ctx context.Context, p program) error {
		for last := ""; ; {
			err := p.createAll(ctx, all)
			if err == nil {
				return nil
			}
			if ctx.Err() == nil && err.Error() != last {
				p.log.Warn("a program of an addon cannot create its objects", "pod", p.pod.Namespace+"/"+p.pod.Name, "error", err)
			}
			last = err.Error()
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(retry):
			}
		}
	}
}

func (p program) createAll(ctx context.Context, all []makes) error {
	var errs []error
	for _, made := range all {
		objects, err := made(ctx, p)
		errs = append(errs, err)
		for _, o := range objects {
			if err := p.Create(ctx, o); !apierrors.IsAlreadyExists(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// env is a variable of the container; otherwise without one.
func (p program) env(name, otherwise string) string {
	for _, e := range p.container.Env {
		if e.Name == name && e.Value != "" {
			return e.Value
		}
	}
	return otherwise
}

// object is one of a namespace, or of the cluster without one.
func object(version, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: fields}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
