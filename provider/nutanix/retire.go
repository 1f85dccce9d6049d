// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// retire removes the categories of a cluster once no VM has them. The records of its machines
// are kept until then: a VM may be restored long after its original is gone.
func (m machines) retire(ctx context.Context, o provider.Owner) error {
	if _, err := m.category(ctx, scope(o), ""); err != nil {
		return ignoreGone(err)
	}
	all, err := m.everything.Do(ctx, "")
	if err != nil || assigned(all, scope(o)) {
		return err
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

// assigned reports whether a VM has the category of a cluster, with any value, or names the
// cluster in its description: some backups restore the one and not the other.
func assigned(all []vm, key string) bool {
	return slices.ContainsFunc(all, func(v vm) bool {
		return v.categories[key] != "" || scope(provider.OwnerOf(tagsOf(v))) == key
	})
}

// retireValue removes a value of the cluster's category, and the category of a label that it
// records, unless a VM or another cluster uses that. Two clusters that are removed at the same
// time may see each other's record: the second look is without the own one.
func (m machines) retireValue(ctx context.Context, o provider.Owner, c category, all []vm) error {
	p, recorded := recordedBy(c)
	if !recorded || slices.ContainsFunc(all, func(v vm) bool { return v.categories[p.Key] == p.Value }) {
		return m.remove(ctx, scope(o), c.value)
	}
	shared, err := m.shared(ctx, o, p)
	if err != nil {
		return err
	}
	if !shared {
		if err := m.retireLabel(ctx, p); err != nil {
			return err
		}
		return m.remove(ctx, scope(o), c.value)
	}
	if err := m.remove(ctx, scope(o), c.value); err != nil {
		return err
	}
	if shared, err := m.shared(ctx, o, p); err != nil || shared {
		return err
	}
	return m.retireLabel(ctx, p)
}

// recordedBy returns the label that a value of a cluster's category records.
func recordedBy(c category) (p pair, recorded bool) {
	recorded = strings.HasPrefix(c.value, labelPrefix) && json.Unmarshal([]byte(c.description), &p) == nil && p.Key != ""
	return p, recorded
}

// shared reports whether the category of another cluster records a label.
func (m machines) shared(ctx context.Context, o provider.Owner, p pair) (bool, error) {
	all, err := m.listCategories(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range all {
		if !strings.HasPrefix(c.key, categoryPrefix) || c.key == scope(o) {
			continue
		}
		if _, err := m.category(ctx, c.key, p.record()); !gone(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// retireLabel removes the category of a label that the driver created, unless something else
// uses it by now, such as an image or a policy.
func (m machines) retireLabel(ctx context.Context, p pair) error {
	if used, err := m.used(ctx, p.Key, p.Value); err != nil || used {
		return ignoreGone(err) // without the query nothing is known: it is kept
	}
	for _, value := range []string{p.Value, ""} {
		c, err := m.category(ctx, p.Key, value)
		if gone(err) {
			continue
		}
		if err != nil || !noted(c) {
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

// remove deletes a category of the driver, or a value of one. While Prism Central takes it for
// used, as by a VM that no list has any more, the caller asks again.
func (m machines) remove(ctx context.Context, key, value string) error {
	err := m.deleteCategory(ctx, key, value)
	if kept(err) {
		return provider.Unavailable.New("", provider.ReasonDeletionRefused, fmt.Errorf("category %s: %w", strings.TrimSuffix(key+"/"+value, "/"), err), "it is retried; if that does not help, remove the category from what it is assigned to")
	}
	return ignoreGone(err)
}
