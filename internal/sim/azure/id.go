// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

func newUUID() string { return uuid.NewString() }

// derivedUUID is the same for the same name.
func derivedUUID(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("butler.butlerlabs.dev/sim/azure/"+name)).String()
}

// digest is an ID, fit for a file name, of what has a longer one.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(parts, "\n"))))
	return hex.EncodeToString(sum[:16])
}

// resourceID is the address of a resource, of a collection (without its last name), or of
// an action on a resource. It is compared without regard to case.
type resourceID struct {
	subscription, group, provider string
	types, names                  []string
}

// parseID reads a path such as
// /subscriptions/S/resourceGroups/G/providers/P/type/name/type/name. Rest is what is left
// of another path.
func parseID(path string) (id resourceID, rest []string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		if decoded, err := url.PathUnescape(p); err == nil {
			parts[i] = decoded
		}
	}
	take := func(word string, into *string) {
		if len(parts) >= 2 && strings.EqualFold(parts[0], word) {
			*into, parts = parts[1], parts[2:]
		}
	}
	take("subscriptions", &id.subscription)
	take("resourceGroups", &id.group)
	take("providers", &id.provider)
	if id.provider == "" {
		return id, parts
	}
	for i, p := range parts {
		if i%2 == 0 {
			id.types = append(id.types, p)
		} else {
			id.names = append(id.names, p)
		}
	}
	return id, nil
}

func (id resourceID) String() string {
	var b strings.Builder
	b.WriteString("/subscriptions/" + id.subscription)
	if id.group != "" {
		b.WriteString("/resourceGroups/" + id.group)
	}
	if id.provider != "" {
		b.WriteString("/providers/" + id.provider)
	}
	for i, t := range id.types {
		b.WriteString("/" + t)
		if i < len(id.names) {
			b.WriteString("/" + id.names[i])
		}
	}
	return b.String()
}

func (id resourceID) key() string { return strings.ToLower(id.String()) }

// kind is the type of the resource, such as Microsoft.Compute/virtualMachines.
func (id resourceID) kind() string { return id.provider + "/" + strings.Join(id.types, "/") }

func (id resourceID) name() string {
	if len(id.names) == 0 {
		return ""
	}
	return id.names[len(id.names)-1]
}

// named reports whether it is the address of a resource.
func (id resourceID) named() bool { return len(id.names) > 0 && len(id.names) == len(id.types) }

// parent is the address of the resource that this one, or this collection, is a part of.
func (id resourceID) parent() resourceID {
	id.types = id.types[:len(id.types)-1]
	id.names = id.names[:len(id.types)]
	return id
}

// child is the address of a part.
func (id resourceID) child(kind, name string) resourceID {
	id.types = append(append([]string{}, id.types...), kind)
	id.names = append(append([]string{}, id.names...), name)
	return id
}

func keyOf(id string) string { return strings.ToLower(strings.TrimRight(id, "/")) }

// lastName is the name at the end of an ID.
func lastName(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// ref is a reference to another resource.
type ref struct {
	ID string `json:"id,omitempty"`
}

func (r *ref) key() string {
	if r == nil {
		return ""
	}
	return keyOf(r.ID)
}

func (r *ref) id() string {
	if r == nil {
		return ""
	}
	return r.ID
}
