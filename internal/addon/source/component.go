// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/repository"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"

	"github.com/butlerdotdev/butler/internal/addon"
)

const metadataFile = "metadata.yaml"

// label is the provider's name with its kind, as clusterctl writes it.
func label(p addon.Provider) string {
	return clusterctl.ManifestLabel(p.Name, clusterctl.ProviderType(p.Kind))
}

// release is what a provider's release has.
type release struct {
	addon.Provider
	components, metadata file
}

// components of all providers, as one list that can be applied.
func (s *Source) components(ctx context.Context, a addon.Addon, v Variables) (Content, error) {
	releases, err := s.releases(ctx, a)
	if err != nil {
		return Content{}, err
	}
	if err := checkContracts(releases); err != nil {
		return Content{}, err
	}
	var (
		out     Content
		origins []string
		sums    strings.Builder
	)
	for _, r := range releases {
		objects, err := r.objects(ctx, v)
		if err != nil {
			return Content{}, err
		}
		out.Objects = append(out.Objects, objects...)
		origins = append(origins, r.components.origin)
		fmt.Fprintln(&sums, strings.Join(append([]string{r.components.digest, r.metadata.digest}, r.Gates...), " "))
	}
	out.Objects = inOrder(out.Objects)
	out.Origin = strings.Join(slices.Compact(origins), ", ")
	out.Digest = digest([]byte(sums.String()))
	return out, nil
}

// releases are fetched side by side. Of several errors the first in the order
// of the providers counts, so that it is the same one each time.
func (s *Source) releases(ctx context.Context, a addon.Addon) ([]release, error) {
	out, errs := make([]release, len(a.Providers)), make([]error, 2*len(a.Providers))
	var wg sync.WaitGroup
	for i, p := range a.Providers {
		out[i].Provider = p
		wg.Go(func() { out[i].components, errs[2*i] = s.place.component(ctx, a, p, p.File) })
		wg.Go(func() { out[i].metadata, errs[2*i+1] = s.place.component(ctx, a, p, metadataFile) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// objects are completed by clusterctl's own layer, with the given variables and
// nothing else: neither its configuration file nor the environment is read.
func (r release) objects(ctx context.Context, v Variables) ([]*unstructured.Unstructured, error) {
	variables, err := r.variables(v)
	if err != nil {
		return nil, err
	}
	reader := config.NewMemoryReader()
	for name, value := range variables {
		reader.Set(name, value)
	}
	settings, err := config.New(ctx, "", config.InjectReader(reader))
	if err != nil {
		return nil, fmt.Errorf("components of %s: %w", label(r.Provider), err)
	}
	c, err := repository.NewComponents(repository.ComponentsInput{
		Provider:     config.NewProvider(r.Name, r.URL(), clusterctl.ProviderType(r.Kind)),
		ConfigClient: settings,
		Processor:    yamlprocessor.NewSimpleProcessor(),
		RawYaml:      r.components.data,
		Options:      repository.ComponentsOptions{Version: r.Version, TargetNamespace: r.Namespace},
	})
	if err != nil {
		return nil, fmt.Errorf("%s from %s cannot be used: %w", componentOf(r.Provider, r.File), r.components.origin, veiled(err, variables))
	}
	var out []*unstructured.Unstructured
	for _, o := range c.Objs() {
		out = append(out, openGates(&o, r.Gates))
	}
	return out, complete(out)
}

// variables are those that are given; one that the components cannot do without
// is missed here, where it is known whose it is.
func (r release) variables(v Variables) (map[string]string, error) {
	var given map[string]string
	if v != nil {
		var err error
		if given, err = v(r.Provider); err != nil {
			return nil, fmt.Errorf("components of %s %s: %w", label(r.Provider), r.Version, err)
		}
	}
	wanted, err := yamlprocessor.NewSimpleProcessor().GetVariableMap(r.components.data)
	if err != nil {
		return nil, fmt.Errorf("%s from %s cannot be read: %w", componentOf(r.Provider, r.File), r.components.origin, err)
	}
	var missing []string
	for name, value := range wanted {
		if _, ok := given[name]; !ok && value == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return given, nil
	}
	slices.Sort(missing)
	return nil, fmt.Errorf("components of %s %s need %s: %s", label(r.Provider), r.Version, strings.Join(missing, ", "), r.remedy())
}

func (r release) remedy() string {
	if r.Platform == "" {
		return "nothing sets it; choose another version"
	}
	return fmt.Sprintf("put a key of that name into the Secret that credentialsSecretRef of %s names in spec.addons.capi.infrastructureProviders", r.Platform)
}

// veiled hides an error whose text could quote a value.
func veiled(err error, variables map[string]string) error {
	for _, value := range variables {
		if value != "" && strings.Contains(err.Error(), value) {
			return errors.New("they are not valid objects once the variables are filled in; look for a credential with a quote, a colon or a line break")
		}
	}
	return err
}
