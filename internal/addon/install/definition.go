// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	definitionKind  = "CustomResourceDefinition"
	definitionWait  = 30 * time.Second
	definitionProbe = 50 * time.Millisecond
)

// definitions are the resource of CustomResourceDefinitions.
var definitions = schema.GroupVersionResource{
	Group: apiextensionsv1.GroupName, Version: "v1", Resource: "customresourcedefinitions",
}

func isDefinition(o *unstructured.Unstructured) bool {
	return o.GetKind() == definitionKind && o.GroupVersionKind().Group == apiextensionsv1.GroupName
}

func definitionNames(objects []*unstructured.Unstructured) (out []string) {
	for _, o := range objects {
		if isDefinition(o) {
			out = append(out, o.GetName())
		}
	}
	return out
}

// chartDefinitions are those of a chart's crds folder and of its dependencies.
// Helm would install them once and never upgrade them.
func chartDefinitions(c *chart.Chart, a addon.Addon) (out []*unstructured.Unstructured, err error) {
	for _, d := range c.CRDObjects() {
		objects, err := parse(d.File.Data)
		if err != nil {
			return nil, fmt.Errorf("read %s of chart %s: %w", d.Filename, c.Name(), err)
		}
		if !slices.Contains(a.Source.WithoutCRDs, d.Name) {
			out = append(out, objects...)
		}
	}
	return out, nil
}

// parse reads a file of objects.
func parse(data []byte) (out []*unstructured.Unstructured, err error) {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data)+1)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case o.GetKind() != "":
			out = append(out, o)
		}
	}
}

// definitionState is all that counts of a definition; its schemas can be large.
type definitionState struct {
	Status struct {
		Conditions []apiextensionsv1.CustomResourceDefinitionCondition `json:"conditions"`
	} `json:"status"`
}

// obstacle is what keeps a definition from being served.
func (d definitionState) obstacle() string {
	state := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition{}
	for _, c := range d.Status.Conditions {
		state[c.Type] = c
	}
	switch names := state[apiextensionsv1.NamesAccepted]; {
	case names.Status == apiextensionsv1.ConditionFalse:
		return "its names are not accepted: " + names.Message
	case names.Status != apiextensionsv1.ConditionTrue, state[apiextensionsv1.Established].Status != apiextensionsv1.ConditionTrue:
		return "is not established yet" + because(state[apiextensionsv1.Established].Message)
	}
	return ""
}

// definition returns why a definition is not served; one that was seen to
// be served is so until it changes.
func (c *connection) definition(ctx context.Context, name string) (obstacle string, err error) {
	c.watch(definitions)
	if c.isEstablished(name) {
		return "", nil
	}
	data, err := c.raw.Get().
		AbsPath("/apis", definitions.Group, definitions.Version, definitions.Resource, name).Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return absent, nil
	case err != nil:
		return "", err
	}
	d := definitionState{}
	if err := json.Unmarshal(data, &d); err != nil {
		return "", err
	}
	if obstacle = d.obstacle(); obstacle == "" {
		c.mu.Lock()
		c.established[name] = true
		c.mu.Unlock()
	}
	return obstacle, nil
}

func (c *connection) isEstablished(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.established[name]
}

// awaitDefinitions returns when definitions are served. What is asked for their
// kinds from then on is read again.
func (c *connection) awaitDefinitions(ctx context.Context, names []string) error {
	for _, name := range names {
		obstacle := ""
		err := wait.PollUntilContextTimeout(ctx, definitionProbe, definitionWait, true, func(ctx context.Context) (_ bool, err error) {
			obstacle, err = c.definition(ctx, name)
			return obstacle == "", err
		})
		if err != nil && obstacle != "" {
			err = errors.New(obstacle)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", definitionKind, name, err)
		}
	}
	c.mapper.Reset()
	return nil
}
