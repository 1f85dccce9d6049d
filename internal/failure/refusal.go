// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refusal is what an API server has against a field of an object, in the words of its rule.
type Refusal struct {
	// Field is empty if it is about the object as a whole.
	Field, Message string
}

// String returns the field, if there is one, and the message.
func (r Refusal) String() string {
	if r.Field == "" {
		return r.Message
	}
	return r.Field + ": " + r.Message
}

// Refusals returns what an API server has against an object; nothing for an error without details.
func Refusals(err error) (out []Refusal) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return nil
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		message := repeated.ReplaceAllString(cause.Message, "")
		if _, own, denied := strings.Cut(message, " denied request: "); denied {
			message = own // without the name of the policy
		}
		field := cause.Field
		if strings.HasPrefix(field, "<") {
			field = ""
		}
		out = append(out, Refusal{field, message})
	}
	return out
}

// repeated is how an API server begins, with the refused value. The user has that; it may be
// long, or a credential.
var repeated = regexp.MustCompile(`^Invalid value: (?:(?:"(?:[^"\\]|\\.)*"|\{.*\}|-?\d+|true|false): )?`)
