// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
)

// Credentials are the data of a ProviderConfig's Secret. They cannot be printed,
// logged or marshalled, also not as a field of another value: the data sits
// behind a function, which reflection cannot look into.
type Credentials struct {
	lookup func(key string) []byte
}

// NewCredentials returns credentials with a copy of the data.
func NewCredentials(data map[string][]byte) Credentials {
	if len(data) == 0 {
		return Credentials{}
	}
	held := maps.Clone(data)
	return Credentials{lookup: func(key string) []byte { return held[key] }}
}

// Empty reports whether there are no credentials, so that the ambient ones count.
func (c Credentials) Empty() bool { return c.lookup == nil }

// Get returns the value of the first key that has one, or nil.
func (c Credentials) Get(keys ...string) []byte {
	if c.lookup == nil {
		return nil
	}
	for _, k := range keys {
		if v := c.lookup(k); len(v) > 0 {
			return v
		}
	}
	return nil
}

// Require returns the value of a key, or an Error that names it; hint says what belongs
// there.
func (c Credentials) Require(op, key, hint string) ([]byte, error) {
	value := c.Get(key)
	if value == nil {
		return nil, Unauthorized.New(op, ReasonCredentialsIncomplete, fmt.Errorf("the Secret has no key %q", key), hint)
	}
	return value, nil
}

// Sensitive is text that must not reach a log, an error or a marshalled value,
// such as user data.
type Sensitive string

// Reveal returns the text itself.
func (s Sensitive) Reveal() string { return string(s) }

const redacted = "[redacted]"

// Format hides the credentials from every verb of package fmt.
func (Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String hides the credentials.
func (Credentials) String() string { return redacted }

// GoString hides the credentials.
func (Credentials) GoString() string { return redacted }

// LogValue hides the credentials.
func (Credentials) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the credentials.
func (Credentials) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// Format hides the text from every verb of package fmt.
func (Sensitive) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String hides the text.
func (Sensitive) String() string { return redacted }

// GoString hides the text.
func (Sensitive) GoString() string { return redacted }

// LogValue hides the text.
func (Sensitive) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the text.
func (Sensitive) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
