// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

// createImage begins to create an image from an address.
func createImage(c *call) (any, error) {
	spec, metadata := c.body.sub("spec"), c.body.sub("metadata")
	switch {
	case metadata.has("uuid"):
		return nil, invalid("metadata.uuid", "User provided UUIDs are not allowed")
	case asked(spec.sub("resources")["data_source_reference"]):
		return nil, notSimulated("spec.resources.data_source_reference")
	}
	e := &entity{Kind: kindImage, UUID: newUUID(), Spec: spec.copied(), Created: c.now, Updated: c.now, Owner: c.who.UUID}
	if err := c.orderCategories(e, metadata); err != nil {
		return nil, err
	}
	return c.accept(e, taskCreateImage, nil)
}

// talosBytes is the size of an image of Talos.
const talosBytes = 1 << 30

// applyImage imports an image to all clusters.
func (p *Prism) applyImage(t task) error {
	p.Lock()
	defer p.Unlock()
	e := p.st.get(kindImage, t.UUID)
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "image : %s does not exist.", t.UUID)
	}
	e.resources().fill(object{"image_type": "DISK_IMAGE", "architecture": "X86_64"})
	e.Exists, e.Status = true, p.imported()
	return p.settle(e, nil)
}

// imported is the status of an image that all clusters have.
func (p *Prism) imported() object {
	var clusters []object
	for _, one := range p.st.all(kindCluster) {
		if one.UUID != p.central() {
			clusters = append(clusters, reference(kindCluster, one.UUID, ""))
		}
	}
	return object{"size_bytes": talosBytes, "current_cluster_reference_list": anys(clusters), "retrieval_uri_list": []any{}}
}

func deleteImage(c *call) (any, error) {
	e := c.st.get(kindImage, c.params[0])
	switch {
	case e == nil:
		return nil, notFound(kindImage, c.params[0])
	case c.pending(e):
		return nil, editConflict(kindImage)
	}
	e.Deleting = true
	return c.acceptDelete(e, taskDeleteImage)
}

// applyDeleteImage deletes an image. The disks of VMs are copies.
func (p *Prism) applyDeleteImage(t task) error {
	p.Lock()
	defer p.Unlock()
	e := p.st.get(kindImage, t.UUID)
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "image : %s does not exist.", t.UUID)
	}
	p.drop(e)
	return nil
}

// cloneVM begins to copy a VM. The copy is off.
func cloneVM(c *call) (any, error) {
	e := c.st.get(kindVM, c.params[0])
	if e == nil || !e.Exists {
		return nil, notFound(kindVM, c.params[0])
	}
	for field := range c.body.sub("override_spec") {
		if field != "name" {
			return nil, notSimulated("override_spec." + field)
		}
	}
	id, err := c.begin(taskClone, e, object{"name": c.body.sub("override_spec").str("name"), "uuid": newUUID()})
	if err != nil {
		return nil, err
	}
	return object{"task_uuid": id}, nil
}

func (p *Prism) applyClone(t task) error {
	p.Lock()
	defer p.Unlock()
	e := p.st.get(kindVM, t.UUID)
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "vm : %s does not exist.", t.UUID)
	}
	name := t.Spec.str("name")
	if name == "" {
		name = e.name()
	}
	p.copyVM(e, t.Spec.str("uuid"), name)
	return nil
}
