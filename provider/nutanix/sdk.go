// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	v3 "github.com/nutanix-cloud-native/prism-go-client/v3"
)

// The files sdk*.go alone know the types of the vendor's client: another version of the API
// replaces them. The client itself is not used. Its constructor replaces the TLS settings of
// http.DefaultTransport, it drops the status of answers, and it takes some refusals for
// success; see docs/adr/0010-prism-v3.md.

// prism is the API v3 of one Prism Central, in the words of this package.
type prism struct{ *caller }

// listVMs returns the VMs that a filter selects; an empty one selects all.
func (p prism) listVMs(ctx context.Context, filter string) ([]vm, error) {
	return list(ctx, p, "vm", filter, func(e *v3.VMIntentResource) vm { return vmOf(e.Metadata, e.Spec, e.Status) })
}

// createVM asks for a VM and returns it as it is being created.
func (p prism) createVM(ctx context.Context, o order) (vm, error) {
	var answer v3.VMIntentResponse
	if err := p.call(ctx, http.MethodPost, "/vms", vmInput(o), &answer); err != nil {
		return vm{}, err
	}
	if answer.Metadata == nil || of(answer.Metadata.UUID) == "" {
		return vm{}, errUnread
	}
	return vmOf(answer.Metadata, answer.Spec, answer.Status), nil
}

// vm reads a VM, also one that is being created or could not be.
func (p prism) vm(ctx context.Context, uuid string) (vm, error) {
	var answer v3.VMIntentResponse
	err := p.call(ctx, http.MethodGet, "/vms/"+url.PathEscape(uuid), nil, &answer)
	return vmOf(answer.Metadata, answer.Spec, answer.Status), err
}

func (p prism) deleteVM(ctx context.Context, uuid string) error {
	return p.call(ctx, http.MethodDelete, "/vms/"+uuid, nil, nil)
}

// power sets the power state that is wanted of a VM. The specification is sent as it was
// read, with fields that the types do not have; one that was changed meanwhile is refused
// with 409, and is read again.
func (p prism) power(ctx context.Context, uuid, wanted string) (err error) {
	for range 3 {
		var whole struct {
			APIVersion string         `json:"api_version,omitempty"`
			Metadata   map[string]any `json:"metadata"`
			Spec       map[string]any `json:"spec"`
		}
		if err := p.call(ctx, http.MethodGet, "/vms/"+uuid, nil, &whole); err != nil {
			return err
		}
		resources, ok := whole.Spec["resources"].(map[string]any)
		if !ok {
			return errForeign
		}
		resources["power_state"] = wanted
		err = p.call(ctx, http.MethodPut, "/vms/"+uuid, whole, nil)
		if status(err) != http.StatusConflict {
			return err
		}
	}
	return err
}

func (p prism) task(ctx context.Context, uuid string) (task, error) {
	var t v3.TasksResponse
	err := p.call(ctx, http.MethodGet, "/tasks/"+uuid, nil, &t)
	return task{of(t.Status), of(t.OperationType), of(t.ErrorDetail)}, err
}

func (p prism) listClusters(ctx context.Context) ([]cluster, error) {
	return list(ctx, p, "cluster", "", func(e *v3.ClusterIntentResponse) cluster {
		c := cluster{uuid: uuidOf(e.Metadata)}
		if e.Status == nil || e.Status.Resources == nil {
			return c
		}
		c.name = e.Status.Name
		if config := e.Status.Resources.Config; config != nil {
			c.central = slices.ContainsFunc(config.ServiceList, func(s *string) bool { return of(s) == "PRISM_CENTRAL" })
			if config.Build != nil {
				c.version = of(config.Build.Version)
			}
		}
		if nodes := e.Status.Resources.Nodes; nodes != nil {
			for _, h := range nodes.HypervisorServerList {
				c.hypervisors = append(c.hypervisors, h.Type)
			}
		}
		return c
	})
}

func (p prism) listImages(ctx context.Context, filter string) ([]image, error) {
	return list(ctx, p, "image", filter, imageOf)
}

func (p prism) image(ctx context.Context, uuid string) (image, error) {
	var e v3.ImageIntentResponse
	err := p.call(ctx, http.MethodGet, "/images/"+url.PathEscape(uuid), nil, &e)
	return imageOf(&e), err
}

func (p prism) listSubnets(ctx context.Context, filter string) ([]subnet, error) {
	return list(ctx, p, "subnet", filter, subnetOf)
}

func (p prism) subnet(ctx context.Context, uuid string) (subnet, error) {
	var e v3.SubnetIntentResponse
	err := p.call(ctx, http.MethodGet, "/subnets/"+url.PathEscape(uuid), nil, &e)
	return subnetOf(&e), err
}

func (p prism) listProjects(ctx context.Context, filter string) ([]project, error) {
	return list(ctx, p, "project", filter, func(e *v3.Project) project {
		found := project{uuid: uuidOf(e.Metadata)}
		if e.Status != nil {
			found.name = e.Status.Name
		}
		return found
	})
}

// listHosts returns the hosts of all clusters: that listing has one page.
func (p prism) listHosts(ctx context.Context) (all []host, err error) {
	var answer v3.HostListResponse
	if err := p.call(ctx, http.MethodPost, "/hosts/list", page{Kind: "host"}, &answer); err != nil {
		return nil, err
	}
	for _, e := range answer.Entities {
		if s := e.Status; s != nil && s.Resources != nil && s.ClusterReference != nil {
			all = append(all, host{s.ClusterReference.UUID, of(s.Resources.NumCPUCores), of(s.Resources.MemoryVapacityMib)})
		}
	}
	return all, nil
}

// listContainers returns the storage containers of all clusters. The API v3 has them as a
// group of entities only.
func (p prism) listContainers(ctx context.Context) (all []container, err error) {
	request := groups{EntityType: "storage_container", Count: most}
	for _, name := range []string{"container_name", "cluster", "storage.user_free_bytes", "storage.user_unreserved_free_bytes"} {
		request.Attributes = append(request.Attributes, &v3.GroupsRequestedAttribute{Attribute: &name})
	}
	var answer v3.GroupsGetEntitiesResponse
	if err := p.call(ctx, http.MethodPost, groupsPath, request, &answer); err != nil {
		return nil, err
	}
	for _, g := range answer.GroupResults {
		for _, e := range g.EntityResults {
			all = append(all, containerOf(e))
		}
	}
	return all, nil
}

// category reads a value of a category, or the category itself if value is empty.
func (p prism) category(ctx context.Context, key, value string) (category, error) {
	var answer v3.CategoryValueStatus
	err := p.call(ctx, http.MethodGet, categoryPath(key, value), nil, &answer)
	return category{key, of(answer.Value), of(answer.Description)}, err
}

// listCategories returns all categories, without their values.
func (p prism) listCategories(ctx context.Context) ([]category, error) {
	return listAt(ctx, p, "category", "/categories/list", "", func(e *v3.CategoryKeyStatus) category {
		return category{key: of(e.Name), description: of(e.Description)}
	})
}

func (p prism) listValues(ctx context.Context, key string) ([]category, error) {
	return listAt(ctx, p, "category", "/categories/"+url.PathEscape(key)+"/list", "", func(e *v3.CategoryValueStatus) category {
		return category{key, of(e.Value), of(e.Description)}
	})
}

// used reports whether an entity that is no VM has a value of a category, or a policy names it.
// VMs are listed by the caller: the index that is asked here may have one that is gone.
func (p prism) used(ctx context.Context, key, value string) (bool, error) {
	for _, usage := range []string{"APPLIED_TO", "USED_IN"} {
		query := v3.CategoryQueryInput{
			UsageType: &usage, GroupMemberCount: new(int64(1)),
			CategoryFilter: &v3.CategoryFilter{Type: new("CATEGORIES_MATCH_ANY"), Params: map[string][]string{key: {value}}},
		}
		var answer v3.CategoryQueryResponse
		if err := p.call(ctx, http.MethodPost, queryPath, query, &answer); err != nil {
			return false, err
		}
		for _, r := range answer.Results {
			if of(r.Kind) != "vm" && max(of(r.TotalEntityCount), of(r.FilteredEntityCount)) > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// putCategory creates a category, or a value of one.
func (p prism) putCategory(ctx context.Context, key, value, description string) error {
	if value == "" {
		return p.call(ctx, http.MethodPut, categoryPath(key, ""), v3.CategoryKey{Name: &key, Description: &description}, nil)
	}
	return p.call(ctx, http.MethodPut, categoryPath(key, value), v3.CategoryValue{Value: &value, Description: &description}, nil)
}

func (p prism) deleteCategory(ctx context.Context, key, value string) error {
	return p.call(ctx, http.MethodDelete, categoryPath(key, value), nil, nil)
}

// granted returns the names of the permissions in all roles of the user, and whether there may
// be more: a user of a directory has those of its groups too, which are not shown with it.
func (p prism) granted(ctx context.Context) (all []string, more bool, err error) {
	var user v3.UserIntentResponse
	if err := p.call(ctx, http.MethodGet, "/users/me", nil, &user); err != nil {
		return nil, false, err
	}
	if user.Status == nil || user.Status.Resources == nil {
		return nil, false, errForeign
	}
	more = !slices.Contains([]string{"", "LOCAL"}, of(user.Status.Resources.UserType))
	for _, ref := range user.Status.Resources.AccessControlPolicyReferenceList {
		var policy v3.AccessControlPolicy
		if err := p.call(ctx, http.MethodGet, "/access_control_policies/"+of(ref.UUID), nil, &policy); err != nil {
			return nil, more, err
		}
		if policy.Status == nil || policy.Status.Resources == nil || policy.Status.Resources.RoleReference == nil {
			continue
		}
		var role v3.Role
		if err := p.call(ctx, http.MethodGet, "/roles/"+of(policy.Status.Resources.RoleReference.UUID), nil, &role); err != nil {
			return nil, more, err
		}
		if role.Status != nil && role.Status.Resources != nil {
			for _, permission := range role.Status.Resources.PermissionReferenceList {
				all = append(all, of(permission.Name))
			}
		}
	}
	return all, more, nil
}
