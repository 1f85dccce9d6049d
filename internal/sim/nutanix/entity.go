// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"maps"
	"slices"
	"time"
)

// The kinds of entities.
const (
	kindVM        = "vm"
	kindImage     = "image"
	kindSubnet    = "subnet"
	kindCluster   = "cluster"
	kindHost      = "host"
	kindContainer = "storage_container"
	kindProject   = "project"
	kindUser      = "user"
	kindRole      = "role"
	kindPolicy    = "access_control_policy"
	kindOperation = "permission"
	kindCategory  = "category"
)

// kinds are those that are kept as entities.
func kinds() []string {
	return []string{kindVM, kindImage, kindSubnet, kindCluster, kindHost, kindContainer, kindProject, kindUser, kindRole, kindPolicy, kindOperation}
}

// The states of an entity.
const (
	stateComplete = "COMPLETE"
	stateError    = "ERROR"
	stateDeleting = "DELETE_PENDING"
)

// entity is an intent that the API keeps: what is wanted, and what exists of it.
type entity struct {
	Kind, UUID  string
	Spec        object
	SpecVersion int
	// Status are the resources of the status beyond those of the spec.
	Status           object
	Created, Updated time.Time
	// Categories are values by key.
	Categories     map[string][]string
	Owner, Project string // UUIDs; empty: those of the administrator, none
	State          string // of the last task that has ended; empty: none has
	Messages       []any  // why it is in state ERROR
	Tasks          []string
	// Exists reports whether the platform has created it. What could not be created is an
	// intent in state ERROR, which is read by its UUID and is not listed.
	Exists  bool
	Visible time.Time // from when on it is listed
	On      bool      // the VM is powered on
	// Deleting is true from when a call has asked for it, Copy marks what the simulator
	// copied, for the auditor alone.
	Deleting, Copy bool
}

func (e *entity) name() string { return e.Spec.str("name") }

func (e *entity) resources() object { return e.Spec.sub("resources") }

// wants reports whether the VM is to run.
func (e *entity) wants() bool { return e.resources().str("power_state") == "ON" }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// noHash is the hash of all specs that the API shows.
const noHash = "00000000000000000000000000000000000000000000000000"

// metadata of an entity.
func (p *Prism) metadata(e *entity) object {
	mapping, first := object{}, object{}
	for _, key := range slices.Sorted(maps.Keys(e.Categories)) {
		mapping[key], first[key] = anys(e.Categories[key]), e.Categories[key][0]
	}
	out := object{
		"kind": e.Kind, "uuid": e.UUID, "spec_version": e.SpecVersion, "categories": first, "categories_mapping": mapping,
		"creation_time": stamp(e.Created), "last_update_time": stamp(e.Updated), "spec_hash": noHash,
	}
	if e.Owner != "" {
		out["owner_reference"] = reference(kindUser, e.Owner, p.nameOf(kindUser, e.Owner))
	}
	if e.Project != "" {
		out["project_reference"] = reference(kindProject, e.Project, p.nameOf(kindProject, e.Project))
	}
	if e.Kind == kindVM {
		out["entity_version"] = "1"
		delete(out, "spec_hash")
	}
	return out
}

// nameOf returns the name of an entity; empty: it does not exist.
func (p *Prism) nameOf(kind, uuid string) string {
	if e := p.st.get(kind, uuid); e != nil {
		return e.name()
	}
	return ""
}

// show is an entity as the API answers with it.
func (p *Prism) show(e *entity) object {
	spec, status := e.Spec.copied(), object{"name": e.name(), "state": p.state(e), "resources": p.status(e)}
	switch e.Kind {
	case kindHost:
		status["cluster_reference"] = e.Status["cluster_reference"]
	case kindUser:
		delete(spec, "name")
	}
	for _, key := range []string{"description", "cluster_reference"} {
		if e.Spec.has(key) {
			status[key] = e.Spec[key]
		}
	}
	if len(e.Messages) > 0 {
		status["message_list"] = e.Messages
	}
	if len(e.Tasks) > 0 {
		status["execution_context"] = object{"task_uuid": anys(e.Tasks)}
	}
	return object{"api_version": apiVersion, "metadata": p.metadata(e), "spec": spec, "status": status}
}

// status returns the resources in the status of an entity.
func (p *Prism) status(e *entity) object {
	if e.Kind == kindVM {
		return p.vmStatus(e)
	}
	out := e.resources().copied()
	for key, value := range e.Status {
		if key != "cluster_reference" {
			out[key] = value
		}
	}
	if e.Kind == kindSubnet {
		p.usage(e, out)
	}
	return out
}
