// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/step"
)

// installAddons starts the addons and records their state. It waits
// for none: they need what later steps bring about, and those need them.
func installAddons(ctx context.Context, s *Session) (*Obstacle, error) {
	addons, err := s.Plan.addons(s.Spec, addon.Facts{
		Endpoint: s.Status.ControlPlaneEndpoint, Platform: s.provider.Spec, Registry: s.Addons.Registry(), Digests: s.Digests,
		Namespace: s.Namespace, ProviderNamespace: s.provider.Namespace,
	})
	if err != nil {
		return nil, &Failure{Reason: "InvalidAddons", Message: err.Error()}
	}
	config, err := s.restConfig(s.dialControlPlanes())
	if err != nil {
		return nil, err
	}
	states := s.Addons.Advance(install.Target{
		ID: s.targetID(), Config: config, Platform: s.provider.Spec, Revision: s.credentialsRevision(ctx, addons),
		Credentials: func(ref *v1alpha1.SecretReference) (map[string][]byte, error) {
			return s.credentials(context.WithoutCancel(ctx), ref)
		},
	}, slices.DeleteFunc(addons, func(a addon.Addon) bool { return a.Key == kubeVIPName }))
	s.recordAddons(states)
	return nil, nil
}

// targetID identifies the cluster by its ClusterBootstrap.
func (s *Session) targetID() string {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}.String()
}

// recordAddons records the state of the addons. That of kube-vip is known otherwise.
func (s *Session) recordAddons(states []install.State) {
	all := s.kubeVIPStatus()
	s.addons.complete = true
	for _, state := range states {
		s.addons.complete = s.addons.complete && state.Phase != ""
		all = append(all, s.addonStatus(state))
	}
	s.Status.Addons = all
	s.Status.AddonsInstalled = map[string]bool{}
	for _, a := range all {
		s.Status.AddonsInstalled[a.Name] = a.Phase == v1alpha1.AddonReady
	}
	s.Status.ConsoleURL = ""
	if s.Status.AddonsInstalled[addon.Console] {
		s.Status.ConsoleURL = addon.ConsoleURL(s.Spec)
	}
}

// addonStatus is what is known of an addon: as long as it was not checked, what
// was known before.
func (s *Session) addonStatus(state install.State) v1alpha1.BootstrapAddonStatus {
	i := slices.IndexFunc(s.Status.Addons, func(a v1alpha1.BootstrapAddonStatus) bool { return a.Name == state.Key && a.Version == state.Version })
	if state.Phase == "" && i >= 0 {
		return s.Status.Addons[i]
	}
	return v1alpha1.BootstrapAddonStatus{
		Name: state.Key, Version: state.Version, Phase: cmp.Or(state.Phase, v1alpha1.AddonPending), Reason: state.Reason, Message: state.Message, Digest: state.Digest,
	}
}

func (s *Session) kubeVIPStatus() []v1alpha1.BootstrapAddonStatus {
	if s.Plan.EndpointKind != EndpointKubeVIP {
		return nil
	}
	i := slices.IndexFunc(s.Status.Addons, isKubeVIP)
	if i < 0 {
		return []v1alpha1.BootstrapAddonStatus{{Name: kubeVIPName, Version: s.Plan.KubeVIP.Version, Phase: v1alpha1.AddonWaiting}}
	}
	return []v1alpha1.BootstrapAddonStatus{s.Status.Addons[i]}
}

func isKubeVIP(a v1alpha1.BootstrapAddonStatus) bool { return a.Name == kubeVIPName }

// markKubeVIP records the state of kube-vip, where the endpoint is of that kind.
func (s *Session) markKubeVIP(phase v1alpha1.AddonPhase, message string) {
	if s.Plan.EndpointKind != EndpointKubeVIP {
		return
	}
	is := v1alpha1.BootstrapAddonStatus{Name: kubeVIPName, Version: s.Plan.KubeVIP.Version, Phase: phase, Message: message}
	if i := slices.IndexFunc(s.Status.Addons, isKubeVIP); i >= 0 {
		s.Status.Addons[i] = is
	} else {
		s.Status.Addons = append([]v1alpha1.BootstrapAddonStatus{is}, s.Status.Addons...)
	}
	if s.Status.AddonsInstalled == nil {
		s.Status.AddonsInstalled = map[string]bool{}
	}
	s.Status.AddonsInstalled[kubeVIPName] = phase == v1alpha1.AddonReady
}

// awaitAddons follows the addons until all are ready. The installer reports when
// the state of one of them changes.
func awaitAddons(_ context.Context, s *Session) (*Obstacle, error) {
	if o := AddonObstacle(s.Status.Addons); o != nil || s.addons.complete {
		return o, nil
	}
	return &Obstacle{Reason: "WaitingForAddons", Message: "checking whether the addons are still ready"}, nil
}

// AddonObstacle returns what addons wait for: those that fail are reported before those
// that take their time, and those that wait for others last.
func AddonObstacle(addons []v1alpha1.BootstrapAddonStatus) *Obstacle {
	var waiting []string
	for _, phase := range []v1alpha1.AddonPhase{v1alpha1.AddonFailing, v1alpha1.AddonWaiting, v1alpha1.AddonInstalling, v1alpha1.AddonPending} {
		for _, a := range addons {
			if a.Phase == phase {
				waiting = append(waiting, waitingFor(a))
			}
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if i := slices.IndexFunc(addons, isFailing); i >= 0 {
		return &Obstacle{Reason: "AddonFailing", Message: step.Listed(waiting), Urgent: true}
	}
	return &Obstacle{Reason: "WaitingForAddons", Message: step.Listed(waiting)}
}

func isFailing(a v1alpha1.BootstrapAddonStatus) bool { return a.Phase == v1alpha1.AddonFailing }

func waitingFor(a v1alpha1.BootstrapAddonStatus) string {
	if a.Message != "" {
		return "addon " + a.Name + ": " + a.Message
	}
	switch a.Phase {
	case v1alpha1.AddonFailing:
		return "addon " + a.Name + " could not be installed"
	case v1alpha1.AddonInstalling:
		return "addon " + a.Name + " is being installed"
	case v1alpha1.AddonPending:
		return "addon " + a.Name + " waits for others"
	case v1alpha1.AddonWaiting, v1alpha1.AddonReady:
	}
	return "addon " + a.Name + " is not ready yet"
}

// failingAddonFirst returns the obstacle of an addon that fails in place of one that
// it may have caused, such as a node without a network.
func (s *Session) failingAddonFirst(o *Obstacle) *Obstacle {
	if o.Urgent || !slices.ContainsFunc(s.Status.Addons, isFailing) {
		return o
	}
	failing := AddonObstacle(s.Status.Addons)
	failing.Poll = o.Poll
	return failing
}

// credentials are those of a Secret of the plane, or of the ProviderConfig.
func (s *Session) credentials(ctx context.Context, ref *v1alpha1.SecretReference) (map[string][]byte, error) {
	key := s.credentialsKey(ref)
	if key.Name == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	secret := &corev1.Secret{}
	err := s.Live.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("secret %s with credentials does not exist; create it", key)
	}
	return secret.Data, err
}

// credentialsRevision is a hash of all credentials that addons are made from. It
// never leaves the process. As long as one cannot be read it is empty.
func (s *Session) credentialsRevision(ctx context.Context, addons []addon.Addon) string {
	refs := []*v1alpha1.SecretReference{nil}
	for _, a := range addons {
		for _, p := range a.Providers {
			if p.Credentials != nil {
				refs = append(refs, p.Credentials)
			}
		}
	}
	var all []map[string][]byte
	for _, ref := range refs {
		data, err := s.credentials(ctx, ref)
		if err != nil {
			return ""
		}
		all = append(all, data)
	}
	document, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(document))
}

// credentialsKey is which Secret is meant: nil is that of the ProviderConfig,
// which may have none.
func (s *Session) credentialsKey(ref *v1alpha1.SecretReference) types.NamespacedName {
	namespace := s.Namespace
	if ref == nil {
		ref, namespace = s.provider.Spec.CredentialsRef, s.provider.Namespace
	}
	return ref.In(namespace)
}
