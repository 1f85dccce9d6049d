// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/x509"
	"testing"
	"time"
)

func TestCertificatesAreDueInGoodTimeAndNotAllTheTime(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	s := &Session{Clock: func() time.Time { return now }}
	for _, tc := range []struct {
		lifetime, left time.Duration
		due            bool
	}{
		{365 * day, 365 * day, false},
		{365 * day, 31 * day, false},
		{365 * day, 29 * day, true},
		{365 * day, -day, true},
		{30 * day, 30 * day, false},
		{30 * day, 11 * day, false},
		{30 * day, 9 * day, true},
		{time.Hour, time.Hour, false},
		{time.Hour, 19 * time.Minute, true},
	} {
		end := now.Add(tc.left)
		if due := s.isDue(&x509.Certificate{NotBefore: end.Add(-tc.lifetime), NotAfter: end}); due != tc.due {
			t.Errorf("of %s %s are left: due %t, want %t", tc.lifetime, tc.left, due, tc.due)
		}
	}
	if s.isDue(nil) {
		t.Error("what has no certificate is due")
	}
}

func TestWhatHasNoCertificateDoesNotRunOut(t *testing.T) {
	for reason, data := range map[string]string{
		"nothing":           "",
		"no document":       "{",
		"a user by a token": "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: https://c}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
	} {
		for _, suffix := range []string{SecretTalosconfig, SecretKubeconfig} {
			if c := certificateOf(suffix, []byte(data)); c != nil {
				t.Errorf("%s as %s has %v", reason, suffix, c.Subject)
			}
		}
	}
}
