// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// createVM begins to create a VM.
func createVM(c *call) (any, error) {
	spec, metadata := c.body.sub("spec"), c.body.sub("metadata")
	if metadata.has("uuid") {
		return nil, invalid("metadata.uuid", "User provided UUIDs are not allowed")
	}
	e := &entity{Kind: kindVM, UUID: newUUID(), Spec: spec.copied(), Created: c.now, Updated: c.now, Owner: c.who.UUID}
	for _, check := range []func(*entity, object) error{c.checkVM, c.orderCategories, c.orderProject, c.orderOwner} {
		if err := check(e, metadata); err != nil {
			return nil, err
		}
	}
	return c.accept(e, taskCreate, nil)
}

// accept keeps an intent and begins the task that carries it out. The answer is that of the
// platform: what was asked for, with the task.
func (c *call) accept(e *entity, operation string, spec object) (any, error) {
	id, err := c.begin(operation, e, spec)
	if err != nil {
		return nil, err
	}
	e.Tasks = append(e.Tasks, id)
	c.st.put(e)
	metadata := object{"kind": e.Kind, "uuid": e.UUID, "spec_version": e.SpecVersion, "use_categories_mapping": c.body.sub("metadata").bool("use_categories_mapping")}
	for _, key := range []string{"categories", "categories_mapping", "project_reference"} {
		if value, there := c.body.sub("metadata")[key]; there {
			metadata[key] = value
		}
	}
	return object{
		"api_version": apiVersion, "metadata": metadata, "spec": c.body["spec"],
		"status": object{"state": statePending, "execution_context": object{"task_uuid": id}},
	}, nil
}

// checkVM checks what the platform checks before it accepts an intent.
func (c *call) checkVM(e *entity, _ object) error {
	if version := c.body.str("api_version"); version != "" && version[0] != '3' {
		return invalid("api_version", "'%s' is not supported", version)
	}
	r := e.resources()
	cluster := e.Spec.sub("cluster_reference").str("uuid")
	switch {
	case cluster == "":
		return invalid("spec", "'cluster_reference' is a required property")
	case c.st.get(kindCluster, cluster) == nil:
		return invalid("spec.cluster_reference.uuid", "cluster : %s does not exist.", cluster)
	case !r.has("memory_size_mib"):
		return invalid("spec.resources", "'memory_size_mib' is a required property")
	case r.sub("boot_config").str("boot_type") == "SECURE_BOOT" && r.str("machine_type") != "Q35":
		return invalid("spec.resources.machine_type", "Secure boot needs machine type Q35")
	}
	for _, field := range []string{"gpu_list", "parent_reference", "guest_tools", "storage_config", "vtpm_config"} {
		if asked(r[field]) {
			return notSimulated("spec.resources." + field)
		}
	}
	for _, check := range []func(object) error{checkDisks, checkNICs, checkCustomization} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// asked reports whether a value asks for anything.
func asked(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) > 0
	case map[string]any:
		for _, one := range v {
			if asked(one) {
				return true
			}
		}
		return false
	case bool:
		return v
	}
	return value != nil
}

func checkDisks(r object) error {
	taken := map[string]bool{}
	for i, d := range r.subs("disk_list") {
		at := fmt.Sprintf("spec.resources.disk_list.%d", i)
		device, address := d.sub("device_properties").str("device_type"), d.sub("device_properties").sub("disk_address")
		place := fmt.Sprint(address.str("adapter_type"), address.num("device_index"))
		mib, bytes := d.num("disk_size_mib"), d.num("disk_size_bytes")
		switch {
		case asked(d["volume_group_reference"]) || device == "VOLUME_GROUP":
			return notSimulated(at + ".volume_group_reference")
		case len(address) > 0 && taken[place]:
			return invalid(at+".device_properties.disk_address", "Disk address %s.%d is used twice", address.str("adapter_type"), address.num("device_index"))
		case device != "CDROM" && mib == 0 && bytes == 0 && !d.has("data_source_reference"):
			return invalid(at, "Either the size or the data source of a disk is required")
		case mib > 0 && bytes > 0 && bytesToMiB(bytes) != mib:
			return invalid(at, "disk_size_mib %d and disk_size_bytes %d differ", mib, bytes)
		case d.has("data_source_reference") && d.sub("data_source_reference").str("kind") != kindImage:
			return notSimulated(at + ".data_source_reference.kind")
		}
		taken[place] = len(address) > 0
	}
	return nil
}

func bytesToMiB(bytes int) int { return (bytes + 1<<20 - 1) >> 20 }

func checkNICs(r object) error {
	for i, n := range r.subs("nic_list") {
		at := fmt.Sprintf("spec.resources.nic_list.%d", i)
		switch {
		case !n.has("subnet_reference"):
			return invalid(at, "'subnet_reference' is a required property")
		case len(n.subs("ip_endpoint_list")) > 0 && n.subs("ip_endpoint_list")[0].str("ip") == "":
			return invalid(at+".ip_endpoint_list.0", "'ip' is a required property")
		}
		for _, field := range []string{"secondary_ip_address_list", "network_function_nic_type", "network_function_chain_reference"} {
			if asked(n[field]) {
				return notSimulated(at + "." + field)
			}
		}
	}
	return nil
}

// checkCustomization checks what the guest is given on a configuration drive.
func checkCustomization(r object) error {
	g := r.sub("guest_customization")
	const at = "spec.resources.guest_customization"
	switch {
	case len(g) == 0:
		return nil
	case asked(g["sysprep"]):
		return notSimulated(at + ".sysprep")
	case asked(g.sub("cloud_init")["custom_key_values"]):
		return notSimulated(at + ".cloud_init.custom_key_values")
	case !g.sub("cloud_init").has("user_data"):
		return invalid(at+".cloud_init", "'user_data' is a required property")
	}
	for _, field := range []string{"user_data", "meta_data"} {
		if _, err := base64.StdEncoding.DecodeString(g.sub("cloud_init").str(field)); err != nil {
			return invalid(at+".cloud_init."+field, "The value is not base64 encoded")
		}
	}
	return nil
}

// orderCategories takes the categories of a request: one value of each key, or with
// use_categories_mapping several. They exist before.
func (c *call) orderCategories(e *entity, metadata object) error {
	asked := categoriesOf(metadata)
	for key, values := range asked {
		k := c.st.categories.ByID[key]
		for _, value := range values {
			if k == nil || !slices.ContainsFunc(k.Values, func(v categoryValue) bool { return v.Value == value }) {
				return refusal{
					status: 422, kind: e.Kind, reason: "CATEGORY_NAME_VALUE_MISMATCH", message: fmt.Sprintf("Category %s with value %s does not exist.", key, value),
				}
			}
		}
	}
	permission := "Create_Category_Mapping"
	if e.Exists {
		permission = "Update_Category_Mapping"
	}
	if !sameCategories(asked, e.Categories) {
		if err := c.allow(permission); err != nil {
			return err
		}
	}
	e.Categories = asked
	return nil
}

func (c *call) orderProject(e *entity, metadata object) error {
	project := metadata.sub("project_reference").str("uuid")
	switch {
	case project == "" || project == e.Project:
		return nil
	case c.st.get(kindProject, project) == nil:
		return invalid("metadata.project_reference.uuid", "project : %s does not exist.", project)
	}
	permission := "View_Project"
	if e.Exists {
		permission = "Update_Virtual_Machine_Project"
	}
	e.Project = project
	return c.allow(permission)
}

func (c *call) orderOwner(e *entity, metadata object) error {
	owner := metadata.sub("owner_reference").str("uuid")
	switch {
	case owner == "" || owner == e.Owner:
		return nil
	case c.st.get(kindUser, owner) == nil || !c.who.Admin:
		return refusal{status: 422, kind: e.Kind, reason: "INVALID_OWNER_REFERENCE", message: "user : " + owner + " cannot own the entity."}
	}
	e.Owner = owner
	return nil
}
