// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/provider"
)

// Patience is how long something that was up may be out of sight before its
// request says so.
const Patience = time.Minute

// CallTimeout bounds one call of a driver; none waits for the platform to finish.
const CallTimeout = 30 * time.Second

// Behind is the result of a pass that has read a version it replaced itself.
func Behind() reconcile.Result { return reconcile.Result{RequeueAfter: lag.Again} }

// Outdated turns the refusal of a write on an outdated request into another pass;
// a request that is gone needs none.
func Outdated(err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) {
		return Behind(), nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// Transient reports whether a failure passes by itself.
func Transient(err error) bool {
	k := provider.KindOf(err)
	return k == provider.Unavailable || k == provider.Exhausted
}

// OfPlatform reports whether err is about the platform, not about the cluster
// that holds the request.
func OfPlatform(err error) bool {
	_, ok := errors.AsType[*provider.Error](err)
	return ok
}

// ReadyReason is the reason of the Ready condition, empty if there is none.
func ReadyReason(conditions []metav1.Condition) string {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}

// Identified adds the platform's ID of the thing that a message is about, unless
// there is none or the message names it already.
func Identified(message, id string) string {
	if id == "" || strings.Contains(message, id) {
		return message
	}
	return message + " (platform ID " + id + ")"
}

// Short keeps an event's text below the limit of the API server, 1,024 bytes.
func Short(text string) string {
	const most = 800
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
