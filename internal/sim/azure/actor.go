// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/butlerdotdev/butler/internal/plane"
)

// The service principals.
const (
	userName  = "butler"
	adminName = "administrator"
)

// actor is a service principal: an application that can get tokens.
type actor struct {
	Name, ClientID, ObjectID, Secret string
	Certificate                      string // PEM; empty: none
	Federated                        []Federation
	Assignments                      []assignment
}

// assignment gives an actor a role on a scope.
type assignment struct {
	Scope string
	role  role
}

// installActors creates the service principals, or reads their secrets.
func (a *Azure) installActors() error {
	user, err := parseRole(a.seed.Role)
	if err != nil {
		return err
	}
	admin, err := parseRole([]byte(everything))
	if err != nil {
		return err
	}
	scope := "/subscriptions/" + a.seed.Subscription
	scopes := a.seed.RoleScopes
	if len(scopes) == 0 {
		scopes = []string{scope}
	}
	a.actors = []*actor{
		{Name: userName, Certificate: a.seed.Certificate, Federated: a.seed.Federated},
		{Name: adminName, Assignments: []assignment{{scope, admin}}},
	}
	for _, s := range scopes {
		a.actors[0].Assignments = append(a.actors[0].Assignments, assignment{s, user})
	}
	for _, p := range a.actors {
		p.ClientID, p.ObjectID = derivedUUID("client/"+p.Name), derivedUUID("object/"+p.Name)
		if p.Secret, err = a.keptSecret(p.Name); err != nil {
			return err
		}
	}
	key, err := a.keptSecret("tokens")
	a.key = []byte(key)
	return err
}

// keptSecret returns a random text that stays the same over restarts.
func (a *Azure) keptSecret(name string) (string, error) {
	file := filepath.Join(a.Options.Dir, "secrets", name)
	raw, err := os.ReadFile(file)
	if err == nil {
		return string(raw), nil
	}
	random := make([]byte, 30)
	_, _ = rand.Read(random)
	text := strings.NewReplacer("-", "~", "_", ".").Replace(base64.RawURLEncoding.EncodeToString(random))
	return text, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), plane.WriteFile(file, []byte(text)))
}

func (a *Azure) actorWith(clientID string) *actor {
	for _, p := range a.actors {
		if strings.EqualFold(p.ClientID, clientID) {
			return p
		}
	}
	return nil
}
