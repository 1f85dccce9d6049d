// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	clientv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// define has the plane serve the kinds that it was started with.
func (p *Plane) define(ctx context.Context) error {
	all := p.options.Definitions
	if len(all) == 0 {
		return nil
	}
	if err := Define(ctx, p.config, all); err != nil {
		return err
	}
	client, err := clientset.NewForConfig(p.config)
	if err != nil {
		return err
	}
	return forEach(ctx, all, func(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
		return backdate(ctx, client.ApiextensionsV1().CustomResourceDefinitions(), d.Name)
	})
}

// definedAtOnce is how many definitions are written at the same time.
const definedAtOnce = 4

// forEach calls do for several definitions at a time.
func forEach(ctx context.Context, all []*apiextensionsv1.CustomResourceDefinition, do func(context.Context, *apiextensionsv1.CustomResourceDefinition) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(definedAtOnce)
	for _, d := range all {
		group.Go(func() error {
			if err := do(ctx, d); err != nil {
				return fmt.Errorf("define %s: %w", d.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// backdate makes a definition look older than it is. For two seconds after a
// kind is established an API server delays each create of it by two seconds,
// for the sake of other API servers; a plane has no other.
func backdate(ctx context.Context, api clientv1.CustomResourceDefinitionInterface, name string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range d.Status.Conditions {
			since := &d.Status.Conditions[i].LastTransitionTime
			if d.Status.Conditions[i].Type == apiextensionsv1.Established && time.Since(since.Time) < time.Minute {
				since.Time = since.Add(-time.Minute)
				_, err := api.UpdateStatus(ctx, d, metav1.UpdateOptions{})
				return err
			}
		}
		return nil
	})
}

// Define applies CustomResourceDefinitions to an API server and returns when it
// serves them.
func Define(ctx context.Context, config *rest.Config, all []*apiextensionsv1.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer web.CloseIdleConnections()
	return forEach(ctx, all, func(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) error {
		if err := applyDefinition(ctx, client, d); err != nil {
			return err
		}
		if err := awaitServed(ctx, web, config.Host, d); err != nil {
			return fmt.Errorf("it is not served: %w", err)
		}
		return nil
	})
}

func applyDefinition(ctx context.Context, client clientset.Interface, d *apiextensionsv1.CustomResourceDefinition) error {
	d = d.DeepCopy()
	d.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	force := true
	_, err = client.ApiextensionsV1().CustomResourceDefinitions().Patch(ctx, d.Name, types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: "butler", Force: &force})
	return err
}

// awaitServed asks for the resource itself, without client-go, which would
// answer "not yet" with a pause of a second.
func awaitServed(ctx context.Context, web *http.Client, host string, d *apiextensionsv1.CustomResourceDefinition) error {
	served := slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
	if served < 0 {
		return errors.New("none of its versions is to be served")
	}
	url := fmt.Sprintf("%s/apis/%s/%s/%s?limit=1", host, d.Spec.Group, d.Spec.Versions[served].Name, d.Spec.Names.Plural)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !answers(ctx, web, url) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
