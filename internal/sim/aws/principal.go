// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
)

// The users that every simulated account has.
const (
	userName  = "butler"
	adminName = "administrator"
)

// principal is a user with an access key, or a role.
type principal struct {
	ID, Name string
	Role     bool
	// AccessKeyID and Secret are a user's long-lived credentials.
	AccessKeyID, Secret string
	Policy              json.RawMessage
	// ExternalID is what AssumeRole must bring; empty: nothing.
	ExternalID string
	// WebIdentity reports that a token of another identity provider may assume the role.
	WebIdentity bool
	// Profile reports that there is an instance profile of the same name.
	Profile bool
}

// session is temporary credentials of a role.
type session struct {
	AccessKeyID, Secret, Token, Name string
	Role                             string // ID
	Expires                          time.Time
}

func (p *principal) documents() []policy.Document {
	d, err := policy.Parse(p.Policy)
	if err != nil {
		return nil // it was checked when it was kept
	}
	return []policy.Document{d}
}

func newUser(name string, document json.RawMessage) *principal {
	return &principal{ID: "AIDA" + keyID(), Name: name, AccessKeyID: "AKIA" + keyID(), Secret: newSecret(), Policy: document}
}

const (
	keyLetters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)

func keyID() string     { return randomText(16, keyLetters) }
func newSecret() string { return randomText(40, secretLetters) }

// roleNamed finds a role.
func (s *state) roleNamed(name string) *principal {
	for _, p := range s.principals.All() {
		if p.Role && p.Name == name {
			return p
		}
	}
	return nil
}
