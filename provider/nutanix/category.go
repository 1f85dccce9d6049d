// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// categoryPrefix begins the categories of the driver.
	categoryPrefix = "butler-"
	// member is the value of a VM without a role.
	member = "machine"
	// labelPrefix begins the values that record a category which was created for a label.
	labelPrefix = "label-"
)

// scope returns the category of a cluster, or of a machine outside any cluster. VMs have their
// role as its value; other values record what else was created, so that it can be removed with
// the cluster.
func scope(o provider.Owner) string { return categoryPrefix + cmp.Or(o.ClusterID, o.ID) }

// note is the description of a category that the driver created.
func note(o provider.Owner) string {
	return tag.Nutanix().Text(tag.Set{ClusterID: cmp.Or(o.ClusterID, o.ID), Cluster: o.Cluster})
}

// noted reports whether the driver created a category, for whichever cluster.
func noted(c category) bool { return tag.Nutanix().ReadText(c.description).ClusterID != "" }

// pair is a label as it is recorded.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// record is the value of a cluster's category that records the label.
func (p pair) record() string { return labelPrefix + cloud.Hash(16, p.Key, p.Value) }

// categorise creates the categories of a machine that are missing, and returns all of them.
func (m machines) categorise(ctx context.Context, op string, s provider.MachineSpec) (map[string]string, error) {
	labels, err := labelsOf(op, s)
	if err != nil {
		return nil, err
	}
	role := cmp.Or(string(s.Role), member)
	if err := m.ensure(ctx, s.Owner, scope(s.Owner), role, note(s.Owner)); err != nil {
		return nil, denied(op, "a category for the cluster", "", err)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if err := m.ensureLabel(ctx, s.Owner, pair{key, labels[key]}); err != nil {
			return nil, denied(op, fmt.Sprintf("category %s for spec.labels", key), ", or remove the label", err)
		}
	}
	labels[scope(s.Owner)] = role
	return labels, nil
}

// denied names the category that may not be created.
func denied(op, what, otherwise string, err error) error {
	mapped := within(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Reason == provider.ReasonPermissionDenied {
		e.Err, e.Hint = fmt.Errorf("%s: %w", what, e.Err), hintPermission+otherwise
	}
	return mapped
}

// ensureLabel creates the category of a label, and records it first: also one that the driver
// created for another cluster, so that the last of them removes it. Any other that exists is
// used as it is and never removed.
func (m machines) ensureLabel(ctx context.Context, o provider.Owner, p pair) error {
	c, err := m.category(ctx, p.Key, p.Value)
	if err == nil && !noted(c) {
		return nil
	}
	if ignoreGone(err) != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := m.ensure(ctx, o, scope(o), p.record(), string(text)); err != nil {
		return err
	}
	return m.ensure(ctx, o, p.Key, p.Value, note(o))
}

// ensure creates a value of a category, and the category, if they are missing.
func (m machines) ensure(ctx context.Context, o provider.Owner, key, value, description string) error {
	_, err := m.category(ctx, key, value)
	if !gone(err) {
		return err
	}
	if _, err := m.category(ctx, key, ""); gone(err) {
		if err := m.putCategory(ctx, key, "", note(o)); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return m.putCategory(ctx, key, value, description)
}

func ignoreGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}
