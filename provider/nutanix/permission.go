// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// permissions returns every permission that machines need, by the names of Prism Central. The
// role in the guide has the same.
func permissions() []string {
	return []string{
		"Create_Category_Mapping",
		"Create_Or_Update_Name_Category",
		"Create_Or_Update_Value_Category",
		"Create_Virtual_Machine",
		"Delete_Category_Mapping",
		"Delete_Name_Category",
		"Delete_Value_Category",
		"Delete_Virtual_Machine",
		"Update_Virtual_Machine",
		"Update_Virtual_Machine_Project",
		"View_Access_Control_Policy",
		"View_Category_Mapping",
		"View_Cluster",
		"View_Host",
		"View_Image",
		"View_Name_Category",
		"View_Project",
		"View_Role",
		"View_Storage_Container",
		"View_Subnet",
		"View_Value_Category",
		"View_Virtual_Machine",
	}
}

// conditional are the permissions that some settings need only.
func (p preflight) conditional(permission string) bool {
	return p.spec.Project == "" && strings.HasSuffix(permission, "_Project")
}

// permissions compares the roles of the user with what machines need. Where the roles may not
// be read, nothing is known, and what a user of a directory lacks may be granted to a group.
func (p preflight) permissions(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f := provider.Finding{Check: "permissions", Verdict: provider.Unknown}
	granted, more, err := p.granted(ctx)
	if err != nil || len(granted) == 0 {
		if k := provider.KindOf(apiError("", err)); err != nil && k == provider.Unavailable {
			return nil, err
		}
		f.Message, f.Hint = "the credentials cannot read the roles of the user", "compare them with docs/getting-started/nutanix.md"
		return []provider.Finding{f}, nil
	}
	missing := slices.DeleteFunc(permissions(), func(one string) bool { return slices.Contains(granted, one) || p.conditional(one) })
	switch {
	case len(missing) == 0:
		f.Verdict = provider.Passed
	case more:
		f.Message, f.Hint = "not granted to the user itself: "+strings.Join(missing, ", ")+"; roles of its groups are not shown", "compare them with docs/getting-started/nutanix.md"
	default:
		f.Verdict, f.Message, f.Hint = provider.Refused, "not granted: "+strings.Join(missing, ", "), hintPermission
	}
	return []provider.Finding{f}, nil
}
