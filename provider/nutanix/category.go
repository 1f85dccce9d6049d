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
	"strings"

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

// ours reports whether the driver created a category for the owner's cluster.
func ours(c category, o provider.Owner) bool {
	return tag.Nutanix().ReadText(c.description).ClusterID == cmp.Or(o.ClusterID, o.ID)
}

// pair is a label as it is recorded.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

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

// ensureLabel creates the category of a label, and records it first. One that exists is used
// as it is and never removed.
func (m machines) ensureLabel(ctx context.Context, o provider.Owner, p pair) error {
	_, err := m.category(ctx, p.Key, p.Value)
	if !gone(err) {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := m.putCategory(ctx, scope(o), labelPrefix+cloud.Hash(16, p.Key, p.Value), string(text)); err != nil {
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

// retire removes the categories of a cluster once no VM has them.
func (m machines) retire(ctx context.Context, o provider.Owner) error {
	if _, err := m.category(ctx, scope(o), ""); err != nil {
		return ignoreGone(err)
	}
	all, err := m.everything.Do(ctx, "")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(v vm) bool { return v.categories[scope(o)] != "" }) {
		return nil
	}
	values, err := m.listValues(ctx, scope(o))
	if err != nil {
		return ignoreGone(err) // another deletion was faster
	}
	for _, c := range values {
		if err := m.retireValue(ctx, o, c, all); err != nil {
			return err
		}
	}
	return m.remove(ctx, scope(o), "")
}

// retireValue removes a value of the cluster's category, and the category of a label that it
// records.
func (m machines) retireValue(ctx context.Context, o provider.Owner, c category, all []vm) error {
	var p pair
	recorded := strings.HasPrefix(c.value, labelPrefix) && json.Unmarshal([]byte(c.description), &p) == nil && p.Key != ""
	if recorded && !slices.ContainsFunc(all, func(v vm) bool { return v.categories[p.Key] == p.Value }) {
		if err := m.retireLabel(ctx, o, p); err != nil {
			return err
		}
	}
	return m.remove(ctx, scope(o), c.value)
}

// retireLabel removes the category of a label, unless others use it by now.
func (m machines) retireLabel(ctx context.Context, o provider.Owner, p pair) error {
	for _, value := range []string{p.Value, ""} {
		c, err := m.category(ctx, p.Key, value)
		if gone(err) {
			continue
		}
		if err != nil || !ours(c, o) {
			return err
		}
		if err := m.deleteCategory(ctx, p.Key, value); !kept(err) {
			if err = ignoreGone(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove deletes a category of the driver, or a value of one.
func (m machines) remove(ctx context.Context, key, value string) error {
	err := m.deleteCategory(ctx, key, value)
	if kept(err) {
		return provider.InUse.New("", provider.ReasonDeletionRefused, fmt.Errorf("category %s: %w", strings.TrimSuffix(key+"/"+value, "/"), err), "remove it from what it is assigned to")
	}
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}
