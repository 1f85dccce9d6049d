// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// conditionValidated says whether the platform has accepted the credentials.
const conditionValidated = "Validated"

// stampEvery is how old lastValidationTime may become while nothing changes.
const stampEvery = time.Hour

// preflightTimeout bounds the platform's own checks.
const preflightTimeout = 30 * time.Second

// reasonRefused is that of a platform that accepts the credentials, but on which
// no machine could be made.
const reasonRefused = "PreflightRefused"

// preflight runs the platform's own checks, where it has any, and reports all
// that are refused.
func preflight(ctx context.Context, p *provider.Platform) error {
	if p.Preflight == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	findings, err := p.Preflight.Check(ctx, nil)
	if err != nil {
		return err
	}
	var refused []string
	for _, f := range findings {
		if f.Verdict == provider.Refused {
			refused = append(refused, strings.TrimSuffix(f.Check+": "+f.Message+"; "+f.Hint, "; "))
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &provider.Error{Kind: provider.Invalid, Reason: reasonRefused, Op: "check the platform", Err: errors.New(strings.Join(refused, " | "))}
}

// report writes what the validation found, if that changes the status. Of one that
// is being deleted it says who keeps it: nothing more is made with it.
func (r *Reconciler) report(ctx context.Context, config *v1alpha1.ProviderConfig, last check, used use) error {
	base := config.DeepCopy()
	s, err := &config.Status, last.err
	if last.platform != "" {
		s.Platform = string(last.platform)
	}
	if err == nil {
		s.CredentialsTemporary, s.CredentialsExpire = last.lifetime.Temporary, timeOf(last.lifetime.Ends)
	}
	ready := err
	if !config.DeletionTimestamp.IsZero() {
		ready = used.refused(config)
	}
	s.Ready = ready == nil
	credentials := err
	if reason := provider.ReasonOf(err); reason == reasonRefused || reason == request.ReasonPlatformChanged {
		credentials = nil
	}
	if answered(credentials) {
		s.Validated = credentials == nil
	}
	r.condition(config, v1alpha1.ConditionReady, ready)
	if answered(credentials) || meta.FindStatusCondition(s.Conditions, conditionValidated) == nil {
		r.condition(config, conditionValidated, credentials)
	}
	if !r.stamp(base.Status, s, err) {
		return nil
	}
	lock := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, config, lock); err != nil {
		return err
	}
	if base.Status.Ready != s.Ready {
		log.FromContext(ctx).Info("provider config checked", "ready", s.Ready)
	}
	return nil
}

// timeOf returns a time in the precision of the API; zero is none.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}

// stamp sets the time of the validation and reports whether there is anything to
// write: a change, or a time that has grown old.
func (r *Reconciler) stamp(before v1alpha1.ProviderConfigStatus, s *v1alpha1.ProviderConfigStatus, err error) bool {
	old := s.LastValidationTime == nil || r.clock().Sub(s.LastValidationTime.Time) > stampEvery
	if equality.Semantic.DeepEqual(before, *s) && (!old || !answered(err)) {
		return false
	}
	now := &metav1.Time{Time: r.clock()}
	s.LastProbeTime = now
	if answered(err) {
		s.LastValidationTime = now
	}
	return true
}

func (r *Reconciler) condition(config *v1alpha1.ProviderConfig, kind string, err error) {
	c := metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, ObservedGeneration: config.Generation,
		Reason: "CredentialsAccepted", Message: "The platform accepts the credentials",
	}
	if err != nil {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, provider.ReasonOf(err), err.Error()
	}
	if err != nil && !answered(err) {
		c.Status = metav1.ConditionUnknown
	}
	meta.SetStatusCondition(&config.Status.Conditions, c)
}

// answered reports whether the platform has said yes or no.
func answered(err error) bool {
	if err == nil || provider.ReasonOf(err) == request.ReasonPlatformChanged {
		return true
	}
	k := provider.KindOf(err)
	return k == provider.Unauthorized || k == provider.Invalid || k == provider.Conflict
}
