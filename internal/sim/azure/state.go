// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/table"
)

// head is what all resources have.
type head struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name,omitempty"`
	Type     string            `json:"type,omitempty"`
	ETag     string            `json:"etag,omitempty"`
	Location string            `json:"location,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
	Zones    []string          `json:"zones,omitempty"`
	SKU      *sku              `json:"sku,omitempty"`
	Identity *identity         `json:"identity,omitempty"`
	Plan     *plan             `json:"plan,omitempty"`
	// ManagedBy is the machine that a disk is attached to.
	ManagedBy string `json:"managedBy,omitempty"`
}

type sku struct {
	Name     string `json:"name,omitempty"`
	Tier     string `json:"tier,omitempty"`
	Capacity int    `json:"capacity,omitempty"`
}

type identity struct {
	Type                   string              `json:"type,omitempty"`
	PrincipalID            string              `json:"principalId,omitempty"`
	TenantID               string              `json:"tenantId,omitempty"`
	UserAssignedIdentities map[string]struct{} `json:"userAssignedIdentities,omitempty"`
}

type plan struct {
	Name          string `json:"name,omitempty"`
	Publisher     string `json:"publisher,omitempty"`
	Product       string `json:"product,omitempty"`
	PromotionCode string `json:"promotionCode,omitempty"`
}

func (h *head) top() *head { return h }

// status is the part of the properties that all resources have.
type status struct {
	ProvisioningState string `json:"provisioningState,omitempty"`
}

func (s *status) state() *string { return &s.ProvisioningState }

// The provisioning states.
const (
	creating  = "Creating"
	updating  = "Updating"
	deleting  = "Deleting"
	succeeded = "Succeeded"
	failed    = "Failed"
)

// resource is a resource with properties of type P, in the form of the API.
type resource[P any] struct {
	head
	Properties P `json:"properties"`
}

func (r *resource[P]) state() *string {
	if s, ok := any(&r.Properties).(interface{ state() *string }); ok {
		return s.state()
	}
	return new(string)
}

// object is a resource of any kind.
type object interface {
	top() *head
	state() *string
}

// record is a resource and what the API does not show of it.
type record struct {
	object
	hidden
}

type hidden struct {
	Created time.Time
	Visible time.Time `json:",omitzero"` // when lists have it
	Machine string    `json:",omitempty"`
	// CustomData and UserData are given to the guest and never shown.
	CustomData, UserData []byte   `json:",omitempty"`
	Power                string   `json:",omitempty"` // of a machine
	Failure              *refusal `json:"-"`          // why it is failed
	Code, Message        string   `json:",omitempty"` // the same, kept
	Ran                  bool     `json:",omitempty"` // its machine was up once
	Copy                 bool     `json:",omitempty"`
	Serial               int      `json:",omitempty"` // counts changes
	Operation            string   `json:"-"`          // that of the last call that changes it
}

type kept struct {
	Kind   string
	Hidden hidden
	Body   json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (r record) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(r.object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept{r.top().Type, r.hidden, body})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *record) UnmarshalJSON(raw []byte) error {
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return err
	}
	kind := kinds()[strings.ToLower(k.Kind)]
	if kind == nil {
		return fmt.Errorf("the simulated Azure has no resources of type %q", k.Kind)
	}
	r.object, r.hidden = kind.create(), k.Hidden
	return json.Unmarshal(k.Body, r.object)
}

// state is everything that exists in the subscription.
type state struct {
	resources  *table.Table[record]
	operations *table.Table[operation]
}

func openState(dir string, log *slog.Logger) (*state, error) {
	resources, err := table.Open[record](filepath.Join(dir, "resources"), log)
	operations, further := table.Open[operation](filepath.Join(dir, "operations"), log)
	return &state{resources, operations}, errors.Join(err, further)
}

// snapshot returns a copy for reads of the past.
func (s *state) snapshot() *state { return &state{s.resources.Snapshot(), s.operations} }

// find returns the resource with an ID, with its body.
func find[T any](s *state, id string) (*record, *T) {
	r := s.resources.ByID[keyOf(id)]
	if r == nil {
		return nil, nil
	}
	body, ok := any(r.object).(*T)
	if !ok {
		return nil, nil
	}
	return r, body
}

// each calls do for all resources of a type, in no order.
func each[T any](s *state, do func(*record, *T)) {
	for _, r := range s.resources.ByID {
		if body, ok := any(r.object).(*T); ok {
			do(r, body)
		}
	}
}

// put keeps a resource after a change.
func (s *state) put(r *record) {
	r.Serial++
	s.resources.Put(keyOf(r.top().ID), r)
}

func (s *state) remove(r *record) { s.resources.Remove(keyOf(r.top().ID)) }

// exists reports whether a record is still the one in the table.
func (s *state) exists(r *record) bool { return s.resources.ByID[keyOf(r.top().ID)] == r }
