// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

// getVersions answers with the version of the API.
func getVersions(*call) (any, error) {
	return object{"major_version": "3", "minor_version": "1"}, nil
}

// getPrismCentral answers with the deployment of Prism Central.
func getPrismCentral(c *call) (any, error) {
	return object{"resources": object{
		"version": c.seed.Version, "cluster_uuid": c.central(), "type": "PC", "pc_size": "kSmall", "is_registered_to_hosting_pe": true,
		"pc_vm_list": []any{object{"vm_name": "prism-central", "power_state": "ON", "status": "NORMAL", "cluster_reference": reference(kindCluster, c.cluster(), "")}},
	}}, nil
}

// getMe answers with the user of the call.
func getMe(c *call) (any, error) {
	e := c.st.get(kindUser, c.who.UUID)
	if e == nil {
		return nil, notFound(kindUser, c.who.UUID)
	}
	return c.show(e), nil
}

// getInfo answers with the roles of the user of the call, and their permissions.
func getInfo(c *call) (any, error) {
	var roles []any
	for _, r := range c.st.all(kindRole) {
		if r.UUID != stable(kindRole, c.who.Name) {
			continue
		}
		var permissions []string
		for _, one := range r.resources().subs("permission_reference_list") {
			permissions = append(permissions, one.str("uuid"))
		}
		roles = append(roles, object{
			"role": object{"name": r.name(), "permission_uuid_list": anys(permissions)}, "filter_list": object{"context_list": []any{}},
		})
	}
	return object{
		"user_details": object{"username": c.who.Name, "user_uuid": c.who.UUID, "user_type": "LOCAL", "display_name": c.who.Name}, "user_legacy_name": c.who.Name,
		"access_control_policy_list": anys(roles),
	}, nil
}
