// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"fmt"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/guest"
	"github.com/butlerdotdev/butler/internal/plane/kind"
)

// PlaneKind is the kind of a cluster's plane on the operator's side.
type PlaneKind string

// The kinds of planes.
const (
	// Embedded is a plane that butleradm runs in the state directory.
	Embedded PlaneKind = "embedded"
	// Guest is a namespace on a cluster of the user.
	Guest PlaneKind = "kubeconfig"
	// Kind is a KIND cluster that butleradm creates.
	Kind PlaneKind = "kind"
)

// Record describes the plane of a cluster. The zero value is an embedded one.
type Record struct {
	Kind PlaneKind `json:"kind,omitempty"`
	// Cluster, Server and Namespace are where a guest plane is, and ID is what the
	// namespace there is claimed with.
	Cluster   string `json:"cluster,omitempty"`
	Server    string `json:"server,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	ID        string `json:"id,omitempty"`
	// Name is that of the KIND cluster, and NodeImage the image of its nodes; empty: KIND's
	// default. Loaded says that it has the images of the controllers from a file.
	Name      string `json:"name,omitempty"`
	NodeImage string `json:"nodeImage,omitempty"`
	Loaded    bool   `json:"loaded,omitempty"`
}

// PlaneChoice is the plane that the user asks for. The zero value leaves the choice: the
// recorded plane, or an embedded one for a new cluster.
type PlaneChoice struct {
	Record
	// Kubeconfig is that of a guest plane.
	Kubeconfig []byte
}

// Plane returns the record of the workspace's plane.
func (w Workspace) Plane() Record {
	m, _ := readMark(w.PlaneDir())
	if m.Plane == nil {
		return Record{Kind: Embedded}
	}
	return *m.Plane
}

// String names the plane for people.
func (r Record) String() string {
	switch r.Kind {
	case Guest:
		return fmt.Sprintf("namespace %s of %s", r.Namespace, r.Server)
	case Kind:
		return "KIND cluster " + r.Name
	case Embedded:
	}
	return "this machine"
}

// OfUser reports whether the plane is on a cluster of the user, which has other objects
// and other administrators.
func (r Record) OfUser() bool { return r.Kind == Guest }

// refuseOther refuses another plane than the one that a cluster has.
func (c PlaneChoice) refuseOther(w Workspace) error {
	has := w.Plane()
	if c.Kind == "" || c.Kind == has.Kind && c.Cluster == has.Cluster && c.Namespace == has.Namespace {
		return nil
	}
	where := has.String()
	if has.Kind == Embedded {
		where = "embedded"
	}
	return failure.Usagef("the plane of %s is %s, and a cluster keeps its plane; remove --plane, or destroy the cluster and %s", w.Name, where, w.Command("forget"))
}

// record is what the marker of a new plane has; nil for an embedded one.
func (c PlaneChoice) record(cluster string) *Record {
	if cmp.Or(c.Kind, Embedded) == Embedded {
		return nil
	}
	r := c.Record
	r.ID = uuid.NewString()
	if r.Kind == Kind {
		r.Name = kind.Name(cluster, r.ID)
	}
	return &r
}

// keepKubeconfig stores the kubeconfig of a guest plane, a later one in the place of an
// earlier one.
func (c PlaneChoice) keepKubeconfig(w Workspace) error {
	if c.Kind != Guest {
		return nil
	}
	return plane.WriteFile(guest.KubeconfigPath(w.PlaneDir()), c.Kubeconfig)
}

// keepNodeImage stores the image of the node in the place of an earlier one, as long as
// there is no node.
func (c PlaneChoice) keepNodeImage(w Workspace) error {
	m, ok := readMark(w.PlaneDir())
	if c.NodeImage == "" || !ok || m.Plane == nil || m.Plane.NodeImage == c.NodeImage {
		return nil
	}
	if exists(kind.KubeconfigPath(w.PlaneDir())) {
		return failure.Usagef("the node of %s has another image, %s; remove --node-image, or destroy the cluster and %s", m.Plane, cmp.Or(m.Plane.NodeImage, "that of KIND's library"), w.Command("forget"))
	}
	m.Plane.NodeImage = c.NodeImage
	return m.write(w.PlaneDir())
}

// MarkLoaded records that the KIND cluster has the images of the controllers.
func (w Workspace) MarkLoaded() error {
	m, ok := readMark(w.PlaneDir())
	if !ok || m.Plane == nil || m.Plane.Loaded {
		return nil
	}
	m.Plane.Loaded = true
	return m.write(w.PlaneDir())
}

// Engine returns the given engine of KIND clusters, or else KIND's library, which does
// not touch the kubeconfig of the user.
func (w Workspace) Engine(given kind.Engine) kind.Engine {
	if given != nil {
		return given
	}
	return kind.Library{File: kind.KubeconfigPath(w.PlaneDir()) + ".kind", Image: w.Plane().NodeImage}
}

// kindOptions are those of a KIND cluster.
func (w Workspace) kindOptions(holder string, e kind.Engine) kind.Options {
	return kind.Options{Dir: w.PlaneDir(), Name: w.Plane().Name, Engine: w.Engine(e), Holder: holder}
}

// guestOptions are those of a guest plane.
func (w Workspace) guestOptions(holder string) guest.Options {
	r := w.Plane()
	return guest.Options{Dir: w.PlaneDir(), Cluster: r.Cluster, Namespace: r.Namespace, ID: r.ID, Holder: holder}
}
