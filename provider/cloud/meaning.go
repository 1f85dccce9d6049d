// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"

	"github.com/butlerdotdev/butler/provider"
)

// Hints that the drivers share.
const (
	HintAgain       = "it is retried"
	HintCorrect     = "correct the field that the message names"
	HintCredentials = "renew the credentials in the Secret of the ProviderConfig"
	HintNextZone    = "another zone is tried next, if there is one"
)

// Meaning is what an answer of a platform means for the reconciler.
type Meaning struct {
	Kind         provider.Kind
	Reason, Hint string
}

// Means returns a meaning.
func Means(kind provider.Kind, reason, hint string) Meaning { return Meaning{kind, reason, hint} }

// Meanings are those of the codes of a platform that name a definite cause.
type Meanings map[string]Meaning

// Add registers the meaning of codes.
func (all Meanings) Add(m Meaning, codes ...string) {
	for _, c := range codes {
		all[c] = m
	}
}

// CredentialsRefused is the meaning of a login or a token that is not accepted.
func CredentialsRefused() Meaning {
	return Meaning{provider.Unauthorized, provider.ReasonCredentialsRefused, HintCredentials}
}

// Throttled is the meaning of a platform that gets too many calls.
func Throttled() Meaning {
	return Meaning{provider.Unavailable, provider.ReasonPlatformThrottled, HintAgain}
}

// TryAgain is the meaning of a platform that is overloaded or out of order.
func TryAgain() Meaning {
	return Meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, HintAgain}
}

// Busy is the meaning of an object that another operation has to release first.
func Busy() Meaning {
	return Meaning{provider.Unavailable, provider.ReasonPlatformConflict, HintAgain}
}

// NoCapacity is the meaning of a zone without room.
func NoCapacity() Meaning {
	return Meaning{provider.Exhausted, provider.ReasonCapacityExhausted, HintNextZone}
}

// Refused is the meaning of a refusal whose message says what is wrong.
func Refused() Meaning {
	return Meaning{provider.Invalid, provider.ReasonPlatformRefused, HintCorrect}
}

// NotFound is the meaning of an object that does not exist.
func NotFound() Meaning {
	return Meaning{provider.Invalid, provider.ReasonNotFound, HintCorrect}
}

// Uncertified is the meaning of a certificate that is not trusted at the endpoint that a
// field names.
func Uncertified(field string) Meaning {
	return Meaning{provider.Invalid, provider.ReasonCertificateRefused, "correct " + field + ", or set its authority in the key caBundle of the Secret"}
}

// Foreign is the meaning of an answer that does not come from the platform.
func Foreign(field, platform string) Meaning {
	return Meaning{provider.Invalid, provider.ReasonEndpointForeign, "correct " + field + ": what answers there is not " + platform}
}

// Unreached is the meaning of an error without an answer.
func Unreached(platform string) Meaning {
	return Meaning{provider.Unavailable, provider.ReasonPlatformUnavailable, "check that " + platform + " can be reached from here; it is retried"}
}

// Translate returns the error of an operation with its meaning and its cause. An error
// that has a Kind is returned as it is.
func Translate(op string, err error, meant func(error) Meaning, cause func(error) error) error {
	if _, done := errors.AsType[*provider.Error](err); done || err == nil {
		return err
	}
	m := meant(err)
	return m.Kind.New(op, m.Reason, cause(err), m.Hint)
}
