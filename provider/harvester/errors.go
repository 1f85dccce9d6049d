// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

const (
	hintCredentials = "renew the kubeconfig in the Secret of the ProviderConfig"
	hintUnavailable = "check that Harvester is up and can be reached from here; it is tried again"
	hintPermission  = "grant it to the user of the kubeconfig"
	hintImages      = "grant get on virtualmachineimages.harvesterhci.io to the user of the kubeconfig"
)

func invalid(op, reason string, err error, hint string) error {
	return &provider.Error{Kind: provider.Invalid, Reason: reason, Op: op, Err: err, Hint: hint}
}

// apiError maps an error of the Harvester API to a Kind.
func apiError(op string, err error) error {
	if _, done := errors.AsType[*provider.Error](err); done {
		return err
	}
	e := &provider.Error{Kind: provider.Unavailable, Reason: "HarvesterUnavailable", Op: op, Err: plain(err), Hint: hintUnavailable}
	switch {
	case apierrors.IsTooManyRequests(err):
		e.Hint = "it is tried again"
	case apierrors.IsUnauthorized(err):
		e.Kind, e.Reason, e.Hint = provider.Unauthorized, "CredentialsRefused", hintCredentials
	case overQuota(err):
		e.Kind, e.Reason, e.Hint = provider.Exhausted, "QuotaExceeded", "raise the quota of the namespace or remove something"
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		e.Kind, e.Reason, e.Hint = provider.Invalid, "NamespaceTerminating", "create the namespace again when it is gone, or set another one in spec.harvester.namespace"
	case apierrors.IsConflict(err):
		e.Reason, e.Hint = "HarvesterConflict", "resolve what it names; it is tried again"
	case refused(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, "HarvesterRefused", "correct what it names"
	case apierrors.IsForbidden(err):
		e.Kind, e.Reason, e.Hint = provider.Unauthorized, "PermissionDenied", hintPermission
	case apierrors.IsNotFound(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, "NotFound", "check spec.harvester.namespace, and that the endpoint is Harvester's"
	case untrusted(err):
		e.Kind, e.Reason, e.Hint = provider.Invalid, "CertificateRefused", "put the right certificate authority into the kubeconfig, or correct spec.harvester.endpoint"
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

// connectError says more about the first request of all.
func connectError(op string, err error) error {
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Reason == "HarvesterUnavailable" && !apierrors.IsTooManyRequests(err) {
		e.Reason, e.Hint = "HarvesterUnreachable", "check the endpoint in spec.harvester.endpoint or the kubeconfig, and that Harvester is up; it is tried again"
	}
	return mapped
}

// createError says which object could not be made. Its text never has a value of
// the object, which may be user data.
func createError(op string, o client.Object, err error) error {
	mapped := apiError(op, err)
	e, ok := errors.AsType[*provider.Error](mapped)
	if !ok {
		return mapped
	}
	e.Err = fmt.Errorf("create %s: %w", describe(o), redact(err))
	if _, secret := o.(*corev1.Secret); secret && e.Reason == "PermissionDenied" {
		e.Hint = "cloud-init data above 2048 bytes needs a Secret: grant create and delete on secrets, or shorten the data"
	}
	return e
}

func deleteError(op string, o client.Object, err error) error {
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok {
		e.Err = fmt.Errorf("delete %s: %w", describe(o), plain(err))
		if deletionRefused(err) {
			e.Kind, e.Reason, e.Hint = provider.InUse, "DeletionRefused", "detach it from what it names, or remove that"
		}
		if _, secret := o.(*corev1.Secret); secret && e.Reason == "PermissionDenied" {
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

func untrusted(err error) bool {
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, certificate := errors.AsType[x509.CertificateInvalidError](err)
	return authority || host || certificate
}

// streamID is how HTTP/2 counts the requests of a connection.
var streamID = regexp.MustCompile(`stream ID \d+; `)

// plain removes from a network error what differs from try to try: the local
// port and the request's number. A condition that changed with every try would be
// written with every try.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return fmt.Errorf("%s %s: %w", op.Op, op.Addr, op.Err)
	}
	if text := err.Error(); streamID.MatchString(text) {
		return errors.New(streamID.ReplaceAllString(text, ""))
	}
	return err
}

// redact cuts quoted values out of the API server's refusal.
func redact(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) {
		return plain(err)
	}
	details := status.Status().Details
	if details == nil || len(details.Causes) == 0 {
		return plain(err)
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
