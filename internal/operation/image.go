// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/registry"
	simregistry "github.com/butlerdotdev/butler/internal/sim/registry"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/provider"
)

const (
	imageCheck = "images of the controllers"
	// imagePatience is how long registries have for an answer.
	imagePatience = 15 * time.Second
)

// ImageArtifacts are the images of this project that addons need, as the registry of a
// rehearsal has them.
func ImageArtifacts(addons []addon.Addon) (out []simregistry.Artifact, err error) {
	for _, a := range addons {
		image := a.Image()
		if image.Repository == "" {
			continue
		}
		at, err := registry.Locate(image.String())
		if err != nil {
			return nil, fmt.Errorf("image of addon %s: %w", a.Key, err)
		}
		out = append(out, simregistry.Artifact{
			Addon: a.Key, Kind: simregistry.Image, URL: "oci://" + at.Host + "/" + at.Path, Version: image.Tag, Digest: image.Digest,
		})
	}
	return out, nil
}

// checkImages asks registries whether nodes can pull the images of this project's
// controllers. A registry that says no is a refusal; one that cannot be reached from this
// machine may be reached by the nodes.
func (o *Operation) checkImages(m *manifest.Manifest) []provider.Finding {
	addons, err := AddonsOf(m)
	if err != nil {
		return nil // checkAddons reports it
	}
	var images []string
	for _, a := range addons {
		if i := a.Image(); i.Repository != "" {
			images = append(images, i.String())
		}
	}
	if len(images) == 0 {
		return nil
	}
	f := imageFinding(images, askForImages(o.ctx, o.asNodes(m), images))
	if f.Verdict == provider.Refused && mirrored(m.Cluster.Spec.Talos) {
		f.Verdict, f.Hint = provider.Unknown, "nodes pull through the mirrors of spec.talos, which this machine did not ask: make sure that they have the images"
	}
	return []provider.Finding{f}
}

// mirrored reports whether patches of the user have nodes pull images from elsewhere.
func mirrored(t v1alpha1.TalosSpec) bool {
	words := func(text string) bool {
		return strings.Contains(text, "mirrors") || strings.Contains(text, "RegistryMirrorConfig")
	}
	return slices.ContainsFunc(t.StrategicPatches, func(p v1alpha1.TalosStrategicPatch) bool { return words(p.Patch) }) ||
		slices.ContainsFunc(t.ConfigPatches, func(p v1alpha1.TalosConfigPatch) bool { return words(p.Path) || p.Value != nil && words(*p.Value) })
}

// asNodes returns how nodes log in to the registry of a host. In a rehearsal it is one of the
// simulated network, which asks for no login.
func (o *Operation) asNodes(m *manifest.Manifest) func(host string) (registry.Options, error) {
	return func(host string) (registry.Options, error) {
		if o.Rehearsal {
			simulated, err := NewSimulatedHTTP(o.Dial(), o.Simulator.CA)
			if err != nil {
				return registry.Options{}, err
			}
			return registry.Options{Anonymous: true, Transport: simulated.Transport}, nil
		}
		r, err := o.registryOf(m, host)
		return registry.Options{Username: r.Username, Password: r.Password, CAData: r.CA, Anonymous: r.Username == "" && r.Password == ""}, err
	}
}

// registryOf returns the login of a registry: the Secret is in the file, or on the plane.
func (o *Operation) registryOf(m *manifest.Manifest, host string) (talos.Registry, error) {
	for _, r := range m.Cluster.Spec.Registries {
		if r.Host != host {
			continue
		}
		for _, s := range m.Others {
			if s.Namespace == m.Cluster.Namespace && s.Name == r.SecretRef.Name {
				return bootstrap.Registry(host, SecretData(s)), nil
			}
		}
		if o.Client() == nil {
			return talos.Registry{}, fmt.Errorf("secret %s of spec.registries is neither in the manifest nor on a plane", r.SecretRef.Name)
		}
		secret := &corev1.Secret{}
		err := o.Client().Get(o.ctx, client.ObjectKey{Namespace: m.Cluster.Namespace, Name: r.SecretRef.Name}, secret)
		return bootstrap.Registry(host, secret.Data), err
	}
	return talos.Registry{Host: host}, nil
}

// askForImages returns the answers in the order of the images.
func askForImages(ctx context.Context, login func(host string) (registry.Options, error), images []string) []error {
	ctx, cancel := context.WithTimeout(ctx, imagePatience)
	defer cancel()
	answers := make([]error, len(images))
	var group sync.WaitGroup
	for i, image := range images {
		group.Go(func() { answers[i] = askForImage(ctx, login, image) })
	}
	group.Wait()
	return answers
}

func askForImage(ctx context.Context, login func(host string) (registry.Options, error), image string) error {
	at, err := registry.Locate(image)
	if err != nil {
		return err
	}
	options, err := login(at.Host)
	if err != nil {
		return err
	}
	c, err := registry.New(options)
	if err != nil {
		return err
	}
	return c.Ask(ctx, image)
}

// imageFinding returns what the answers of registries mean.
func imageFinding(images []string, answers []error) provider.Finding {
	var refused, silent []string
	for i, err := range answers {
		if err == nil {
			continue
		}
		text := fmt.Sprintf("%s: %v", images[i], err)
		if _, said := errors.AsType[*registry.Refusal](err); said {
			refused = append(refused, text)
		} else {
			silent = append(silent, text)
		}
	}
	switch {
	case len(refused) > 0:
		return provider.Finding{
			Check: imageCheck, Verdict: provider.Refused, Message: "nodes cannot pull " + strings.Join(refused, ", "),
			Hint: "push them with butleradm images push --to REGISTRY/PATH and set spec.addons.butlerController.image to REGISTRY/PATH/butler-controller (a login for nodes: spec.registries), or set spec.addons.butlerController.enabled to false",
		}
	case len(silent) > 0:
		return provider.Finding{
			Check: imageCheck, Verdict: provider.Unknown, Message: "this machine could not ask for " + strings.Join(silent, ", "),
			Hint: "make sure that the nodes can",
		}
	}
	return provider.Finding{Check: imageCheck, Verdict: provider.Passed}
}
