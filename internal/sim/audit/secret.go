// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"encoding/base64"
	"regexp"
	"sync"
)

// depth is how many encodings are looked through: a key of a machine configuration
// that is user data in a Secret has three.
const depth = 4

// secretsIn says what kinds of keys a text has in it, whether or not they are encoded.
func secretsIn(content []byte) []string { return search(content, depth) }

var configuration = regexp.MustCompile(`(?m)^(machine|cluster):\s*$`)

// Configures reports whether user data is a machine configuration of Talos. It has keys,
// and on a platform whose machines read it from there it is no violation.
func Configures(userData []byte) bool { return configuration.Match(userData) }

func search(content []byte, left int) (found []string) {
	for _, m := range marks() {
		if m.pattern.Match(content) {
			found = append(found, m.what)
		}
	}
	if left == 0 || len(found) > 0 {
		return found
	}
	for _, word := range encoded().FindAll(content, -1) {
		for _, decoded := range readings(word) {
			if found = search(decoded, left-1); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// mark is how a kind of key is known. Certificates and public keys are none.
type mark struct {
	what    string
	pattern *regexp.Regexp
}

var marks = sync.OnceValue(func() []mark {
	return []mark{
		{"a private key", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`)},
		{"a bearer token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
		{"a token to join a cluster", regexp.MustCompile(`\btoken:\s*['"]?[a-z0-9]{6}\.[a-z0-9]{16}\b`)},
		{"the key of a cluster's store", regexp.MustCompile(`\b(secretbox|aescbc)EncryptionSecret:\s*['"]?[A-Za-z0-9+/]{16,}`)},
	}
})

var encoded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}`) })

// readings are what a word may be the base64 of. In a binary message what stands
// before it may look like a part of it, so that it is read from several places on.
func readings(word []byte) (all [][]byte) {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for from := range 4 {
			part := word[from:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			out := make([]byte, encoding.DecodedLen(len(part)))
			if n, err := encoding.Decode(out, part); err == nil && looksLikeText(out[:n]) {
				all = append(all, out[:n])
			}
		}
	}
	return all
}

// looksLikeText keeps random bytes from being searched for more of them.
func looksLikeText(data []byte) bool {
	for _, b := range data[:min(len(data), 16)] {
		if b < 0x20 && b != '\n' && b != '\r' && b != '\t' || b > 0x7e {
			return false
		}
	}
	return true
}
