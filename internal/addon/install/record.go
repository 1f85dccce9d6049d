// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

const (
	recordPrefix = "butler-addon-"
	// keySecret has the key under which credentials are hashed, so that they
	// cannot be guessed.
	keySecret      = "butler-addon-key"
	keyField       = "key"
	managedByLabel = "app.kubernetes.io/managed-by"
	partOfLabel    = "app.kubernetes.io/part-of"
	project        = "butler"
)

// record is what the cluster keeps about an addon that was applied.
type record struct {
	Version string
	Origin  string
	Digest  string
	// Mark is a hash of all that was applied.
	Mark string
	// Objects is a hash of the objects that followed; empty where none have to.
	Objects string
	// Listed are the objects of its source that must be there.
	Listed []addon.Ref
}

func labels() map[string]string {
	return map[string]string{managedByLabel: manager, partOfLabel: project}
}

// recorded reads the record of an addon; the zero one means that there is none.
func (c *connection) recorded(ctx context.Context, key string) (record, error) {
	m, err := c.kubernetes.core.ConfigMaps(metav1.NamespaceSystem).Get(ctx, recordPrefix+key, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return record{}, nil
	case err != nil:
		return record{}, fmt.Errorf("read ConfigMap %s/%s%s: %w", metav1.NamespaceSystem, recordPrefix, key, err)
	}
	r := record{
		Version: m.Data["version"], Origin: m.Data["origin"], Digest: m.Data["digest"],
		Mark: m.Data["mark"], Objects: m.Data["objects"],
	}
	if err := json.Unmarshal([]byte(m.Data["listed"]), &r.Listed); err != nil {
		return record{}, nil //nolint:nilerr // without a readable record the addon is applied again
	}
	return r, nil
}

// keepRecord writes the record of an addon.
func (c *connection) keepRecord(ctx context.Context, key string, r record) error {
	listed, err := json.Marshal(r.Listed)
	if err != nil {
		return err
	}
	m := applycorev1.ConfigMap(recordPrefix+key, metav1.NamespaceSystem).WithLabels(labels()).WithData(map[string]string{
		"version": r.Version, "origin": r.Origin, "digest": r.Digest, "mark": r.Mark, "objects": r.Objects, "listed": string(listed),
	})
	_, err = c.kubernetes.core.ConfigMaps(metav1.NamespaceSystem).Apply(ctx, m, force())
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s%s: %w", metav1.NamespaceSystem, recordPrefix, key, err)
	}
	return nil
}

func force() metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager, Force: true} }

// addonMark is a hash of what an addon is made of, credentials aside.
func addonMark(a addon.Addon, more ...string) (string, error) {
	a.Needs, a.Ready = nil, addon.Readiness{}
	if a.Source.Kind != addon.Objects {
		a.Objects = nil
	}
	return hash(a, more)
}

// objectsMark is a hash of the objects that follow an addon's source.
func objectsMark(a addon.Addon) string {
	if len(a.Objects) == 0 || a.Source.Kind == addon.Objects {
		return ""
	}
	mark, err := hash(a.Objects)
	if err != nil {
		return "unreadable"
	}
	return mark
}

func hash(parts ...any) (string, error) {
	document, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("record the addon: %w", err)
	}
	sum := sha256.Sum256(document)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// keyed is a hash of credentials under a key that only this cluster has.
func (c *connection) keyed(ctx context.Context, values map[string]map[string]string) (string, error) {
	key, err := c.hashKey(ctx)
	if err != nil {
		return "", err
	}
	document, err := json.Marshal(values)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(document)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (c *connection) hashKey(ctx context.Context) ([]byte, error) {
	secrets := c.kubernetes.core.Secrets(metav1.NamespaceSystem)
	s, err := secrets.Get(ctx, keySecret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		key := make([]byte, sha256.Size)
		_, _ = rand.Read(key) // never fails
		s, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: keySecret, Namespace: metav1.NamespaceSystem, Labels: labels()},
			Data:       map[string][]byte{keyField: key},
		}, metav1.CreateOptions{FieldManager: manager})
	}
	if apierrors.IsAlreadyExists(err) {
		s, err = secrets.Get(ctx, keySecret, metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("keep Secret %s/%s: %w", metav1.NamespaceSystem, keySecret, err)
	}
	return s.Data[keyField], nil
}

// checkUnchanged refuses content that the same place hands out for a version with another
// checksum than at first: a version that was published does not change. Charts of this project are
// carried, and those of development builds do change.
func (r record) checkUnchanged(a addon.Addon, content source.Content) error {
	if a.Source.Kind == addon.ChartCarried || r.Digest == "" || content.Digest == "" {
		return nil
	}
	if r.Version != a.Version || r.Origin != content.Origin || r.Digest == content.Digest {
		return nil
	}
	return fmt.Errorf("%s %s from %s has changed since it was first used: its checksum was %s and is %s; find out why, and if the change is wanted, delete ConfigMap %s/%s%s",
		a.Key, a.Version, content.Origin, r.Digest, content.Digest, metav1.NamespaceSystem, recordPrefix, a.Key)
}
