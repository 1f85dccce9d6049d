// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/errtext"
)

const (
	hintCredentials = "renew the kubeconfig in the Secret of the ProviderConfig"
	hintUnavailable = "check that Harvester is up and can be reached from here; it is retried"
	hintPermission  = "grant it to the user of the kubeconfig"
	hintImages      = "grant get on virtualmachineimages.harvesterhci.io to the user of the kubeconfig"
)

// apiError maps an error of the Harvester API to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done {
		return err
	}
	e := &provider.Error{Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnavailable, Op: op, Err: errtext.Stable(err), Hint: hintUnavailable}
	switch {
	case apierrors.IsTooManyRequests(err):
		e.Reason, e.Hint = provider.ReasonPlatformThrottled, "it is retried"
	case apierrors.IsUnauthorized(err):
		e.Kind, e.Reason, e.Hint = provider.Unauthorized, provider.ReasonCredentialsRefused, hintCredentials
	case overQuota(err):
		e.Kind, e.Reason, e.Hint = provider.Exhausted, provider.ReasonQuotaExceeded, "raise the quota of the namespace or remove something"
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		e.Kind, e.Reason, e.Hint = provider.Invalid, "NamespaceTerminating", "create the namespace again when it is gone, or set another one in spec.harvester.namespace"
	case apierrors.IsConflict(err):
		e.Reason, e.Hint = provider.ReasonPlatformConflict, "resolve the conflict that the message names; it is retried"
	case refused(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonPlatformRefused, "correct the field that the message names"
	case apierrors.IsForbidden(err):
		e.Kind, e.Reason, e.Hint = provider.Unauthorized, provider.ReasonPermissionDenied, hintPermission
	case apierrors.IsNotFound(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonNotFound, "check spec.harvester.namespace, and that the endpoint is Harvester's"
	case errtext.Untrusted(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, provider.ReasonCertificateRefused, "put the right certificate authority into the kubeconfig, or correct spec.harvester.endpoint"
	}
	return e
}

// refused reports whether the platform understood the request and does not accept it.
// The code alone does not say so: Harvester's webhooks deny with 500, too.
func refused(err error) bool {
	return denied(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// denied reports whether an admission webhook was called and said no.
func denied(err error) bool {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	return answered && strings.Contains(err.Error(), "admission webhook") && strings.Contains(err.Error(), "denied the request")
}

// overQuota reports whether a quota of Kubernetes, or one of Rancher, is used up.
func overQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota") ||
		denied(err) && strings.Contains(err.Error(), "due to resource quota")
}

// connectError adds what to check when the first request fails.
func connectError(op string, err error) error {
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Reason == provider.ReasonPlatformUnavailable {
		e.Reason, e.Hint = provider.ReasonPlatformUnreachable, "check the endpoint in spec.harvester.endpoint or the kubeconfig, and that Harvester is up; it is retried"
	}
	return mapped
}

// createError names the object that could not be created. Its text never has a value of
// the object, which may be user data.
func createError(op string, o client.Object, err error) error {
	mapped := apiError(op, err)
	e, ok := errors.AsType[*provider.Error](mapped)
	if !ok {
		return mapped
	}
	e.Err = fmt.Errorf("create %s: %w", describe(o), redact(err))
	if _, secret := o.(*corev1.Secret); secret && e.Reason == provider.ReasonPermissionDenied {
		e.Hint = "cloud-init data above 2048 bytes needs a Secret: grant create and delete on secrets, or shorten the data"
	}
	return e
}

func deleteError(op string, o client.Object, err error) error {
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok {
		e.Err = fmt.Errorf("delete %s: %w", describe(o), errtext.Stable(err))
		if deletionRefused(err) {
			e.Kind, e.Reason, e.Hint = provider.InUse, provider.ReasonDeletionRefused, "detach it from the object that the message names, or remove that object"
		}
		if _, secret := o.(*corev1.Secret); secret && e.Reason == provider.ReasonPermissionDenied {
			e.Hint = "grant delete on secrets to the user of the kubeconfig, or delete the Secret by hand"
		}
	}
	return mapped
}

// deletionRefused reports whether the platform keeps an object that it was asked to
// delete, such as a disk that is attached to another VirtualMachine. A precondition
// that is not met only says that the object was replaced meanwhile.
func deletionRefused(err error) bool {
	return refused(err) || apierrors.IsConflict(err) && !strings.Contains(err.Error(), "Precondition failed")
}

func forbidden(err error) bool { return apierrors.IsForbidden(err) }

// redact cuts quoted values out of the API server's refusal.
func redact(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) {
		return errtext.Stable(err)
	}
	details := status.Status().Details
	if details == nil || len(details.Causes) == 0 {
		return errtext.Stable(err)
	}
	var causes []string
	for _, c := range details.Causes {
		causes = append(causes, strings.TrimPrefix(c.Field+": "+withoutValue(c.Message), ": "))
	}
	return errors.New(strings.Join(causes, "; "))
}

// withoutValue keeps of `Invalid value: "…": what is wrong` the ends only. The
// last separator cannot lie before the end of the value.
func withoutValue(message string) string {
	const mark = "Invalid value: "
	start, end := strings.Index(message, mark), strings.LastIndex(message, ": ")
	if start < 0 {
		return message
	}
	if end < start+len(mark) {
		return message[:start] + "invalid value"
	}
	return message[:start] + "invalid value: " + message[end+2:]
}

// describe names an object as people know it.
func describe(o client.Object) string {
	return fmt.Sprintf("%s %q", reflect.TypeOf(o).Elem().Name(), o.GetName())
}
