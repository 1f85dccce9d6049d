// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	v3 "github.com/nutanix-cloud-native/prism-go-client/v3"
	"github.com/nutanix-cloud-native/prism-go-client/v3/models"
)

// This file alone knows the types of the vendor's client: another version of the API
// replaces it. The client itself is not used. Its constructor replaces the TLS settings of
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

// page asks for a part of a listing.
type page struct {
	Kind   string `json:"kind"`
	Filter string `json:"filter,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Length int    `json:"length,omitempty"`
}

// most is how many entities Prism Central returns at once.
const most = 500

// groups asks for entities that have no listing of their own.
type groups struct {
	EntityType string                         `json:"entity_type"`
	Attributes []*v3.GroupsRequestedAttribute `json:"group_member_attributes"`
	Count      int                            `json:"group_member_count"`
}

// list reads the entities that a filter of the form attribute==name selects, or more of them:
// callers compare the names.
func list[E, T any](ctx context.Context, p prism, kind, filter string, convert func(*E) T) ([]T, error) {
	return listAt(ctx, p, kind, "/"+kind+"s/list", literal(filter), convert)
}

// plain are the names that a filter can have as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9._ -]+$`)

// literal returns a filter, or none if its name would be read as something else: names in
// filters are regular expressions, and commas, semicolons and brackets join comparisons.
func literal(filter string) string {
	if _, name, _ := strings.Cut(filter, "=="); !plain.MatchString(name) {
		return ""
	}
	return filter
}

// listAt reads all pages of a listing. If entities vanish meanwhile, others move to pages
// that were read before: then it begins again, and in the end fails.
func listAt[E, T any](ctx context.Context, p prism, kind, path, filter string, convert func(*E) T) ([]T, error) {
	for range 3 {
		all, whole, err := pages(ctx, p, page{Kind: kind, Filter: filter, Length: most}, path, convert)
		if err != nil || whole {
			return all, err
		}
	}
	return nil, fmt.Errorf("the list of %ss changes while it is read", kind)
}

func pages[E, T any](ctx context.Context, p prism, next page, path string, convert func(*E) T) (all []T, whole bool, err error) {
	for total := 0; ; next.Offset += most {
		var answer struct {
			Entities []*E `json:"entities"`
			Metadata *struct {
				Total int `json:"total_matches"`
			} `json:"metadata"`
		}
		if err := p.call(ctx, http.MethodPost, path, next, &answer); err != nil {
			return nil, false, err
		}
		if answer.Metadata == nil {
			return nil, false, errForeign
		}
		if answer.Metadata.Total < total {
			return nil, false, nil
		}
		total = answer.Metadata.Total
		for _, e := range answer.Entities {
			all = append(all, convert(e))
		}
		if len(answer.Entities) == 0 || next.Offset+most >= total {
			return all, true, nil
		}
	}
}

func categoryPath(key, value string) string {
	if value == "" {
		return "/categories/" + url.PathEscape(key)
	}
	return "/categories/" + url.PathEscape(key) + "/" + url.PathEscape(value)
}

// of returns the value of an optional field.
func of[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func uuidOf(m *v3.Metadata) string {
	if m == nil {
		return ""
	}
	return of(m.UUID)
}

func createdAt(m *v3.Metadata) time.Time {
	if m == nil {
		return time.Time{}
	}
	return of(m.CreationTime)
}

func refer(kind, uuid string) *v3.Reference {
	if uuid == "" {
		return nil
	}
	return &v3.Reference{Kind: &kind, UUID: &uuid}
}

// vmInput is the request that creates a VM: with UEFI, its disks on the SCSI bus in their
// order, one interface, and the power on.
func vmInput(o order) *v3.VMIntentInput {
	r := &v3.VMResources{
		PowerState: new(powerOn), HardwareClockTimezone: new("UTC"), BootConfig: &v3.VMBootConfig{BootType: new("UEFI")},
		NumSockets: &o.sockets, NumVcpusPerSocket: &o.cores, MemorySizeMib: &o.memoryMiB,
		NicList: []*v3.VMNic{{SubnetReference: refer("subnet", o.subnet), IsConnected: new(true)}},
	}
	if o.address != "" {
		r.NicList[0].IPEndpointList = []*v3.IPAddress{{IP: &o.address, Type: new("ASSIGNED")}}
	}
	for i, d := range o.disks {
		r.DiskList = append(r.DiskList, diskInput(d, int64(i)))
	}
	if o.userData != "" {
		r.GuestCustomization = &v3.GuestCustomization{CloudInit: &v3.GuestCustomizationCloudInit{UserData: &o.userData}}
	}
	return &v3.VMIntentInput{
		APIVersion: new("3.1.0"),
		Metadata:   &v3.Metadata{Kind: new("vm"), ProjectReference: refer("project", o.project), Categories: o.categories},
		Spec:       &v3.VM{Name: &o.name, Description: &o.description, ClusterReference: refer("cluster", o.cluster), Resources: r},
	}
}

func diskInput(d diskOrder, index int64) *v3.VMDisk {
	one := &v3.VMDisk{
		DiskSizeMib: &d.sizeMiB, DataSourceReference: refer("image", d.image),
		DeviceProperties: &v3.VMDiskDeviceProperties{DeviceType: new("DISK"), DiskAddress: &v3.DiskAddress{AdapterType: new(busSCSI), DeviceIndex: &index}},
	}
	if d.container != "" {
		one.StorageConfig = &v3.VMStorageConfig{StorageContainerReference: &v3.StorageContainerReference{Kind: "storage_container", UUID: d.container}}
	}
	return one
}

// busSCSI is the bus that disks are attached to.
const busSCSI = "SCSI"

// vmOf reads a VM. The specification has what was asked for, the status what there is.
func vmOf(m *v3.Metadata, spec *v3.VM, st *v3.VMDefStatus) vm {
	one := vm{uuid: uuidOf(m), created: createdAt(m)}
	if m != nil {
		one.categories = m.Categories
	}
	if spec != nil {
		one.name, one.description = of(spec.Name), of(spec.Description)
		if spec.Resources != nil {
			one.wanted = of(spec.Resources.PowerState)
		}
	}
	if st == nil {
		return one
	}
	one.state = of(st.State)
	for _, said := range st.MessageList {
		one.messages = append(one.messages, strings.TrimSpace(of(said.Message)))
	}
	if st.ClusterReference != nil {
		one.cluster = of(st.ClusterReference.UUID)
	}
	if st.ExecutionContext != nil {
		one.task = taskOf(st.ExecutionContext.TaskUUID)
	}
	one.resources(st.Resources)
	return one
}

// resources reads what a VM has.
func (v *vm) resources(r *v3.VMResourcesDefStatus) {
	if r == nil {
		return
	}
	v.power, v.cpu, v.memoryMiB = of(r.PowerState), of(r.NumSockets)*max(1, of(r.NumVcpusPerSocket)), of(r.MemorySizeMib)
	if from := r.ParentReference; from != nil && of(from.Kind) == "vm" { // else it was created from an image
		v.parent = of(from.UUID)
	}
	for _, n := range r.NicList {
		v.nics = append(v.nics, nicOf(n))
	}
	for _, d := range r.DiskList {
		if p := d.DeviceProperties; p != nil && p.DiskAddress != nil {
			v.disks = append(v.disks, disk{of(p.DiskAddress.AdapterType), int32(of(p.DiskAddress.DeviceIndex)), of(p.DeviceType) == "CDROM"})
		}
	}
}

// nicOf reads an interface. Addresses that were learned from the network may be those of
// others, such as a virtual IP: they come last. Prism Central names no order of them; here it
// is that of the addresses, so that it is the same each time.
func nicOf(n *v3.VMNicOutputStatus) nic {
	one := nic{mac: of(n.MacAddress)}
	if n.SubnetReference != nil {
		one.subnet = of(n.SubnetReference.UUID)
	}
	var learned []string
	for _, a := range n.IPEndpointList {
		if of(a.Type) == "LEARNED" {
			learned = append(learned, of(a.IP))
			continue
		}
		one.addresses = append(one.addresses, of(a.IP))
	}
	slices.SortFunc(learned, func(a, b string) int {
		x, _ := netip.ParseAddr(a) // what is no address comes first, and is left out later
		y, _ := netip.ParseAddr(b)
		return x.Compare(y)
	})
	one.addresses = append(one.addresses, learned...)
	return one
}

// taskOf reads the UUID of a task, which is a text or a list with the last one at its end.
func taskOf(field any) string {
	switch t := field.(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			return taskOf(t[len(t)-1])
		}
	}
	return ""
}

func imageOf(e *v3.ImageIntentResponse) image {
	one := image{uuid: uuidOf(e.Metadata), created: createdAt(e.Metadata)}
	if s := e.Status; s != nil {
		one.name, one.description, one.state = of(s.Name), of(s.Description), of(s.State)
		one.kind, one.sizeBytes = of(s.Resources.ImageType), of(s.Resources.SizeBytes)
		for _, said := range s.MessageList {
			one.messages = append(one.messages, of(said.Message))
		}
	}
	return one
}

func subnetOf(e *v3.SubnetIntentResponse) subnet {
	one := subnet{uuid: uuidOf(e.Metadata)}
	if s := e.Status; s != nil {
		one.name = of(s.Name)
		if s.ClusterReference != nil {
			one.cluster = of(s.ClusterReference.UUID)
		}
		if s.Resources != nil {
			one.overlay, one.vlan = s.Resources.SubnetType == "OVERLAY", s.Resources.VlanID
			one.addresses = addressesOf(s.Resources.IPConfig)
		}
	}
	return one
}

// addressesOf reads what AHV assigns on a subnet. A range is written "10.0.0.9 10.0.0.19".
func addressesOf(c *models.IPConfig) (a addressPlan) {
	if c == nil {
		return a
	}
	first, err := netip.ParseAddr(c.SubnetIP)
	if err != nil {
		return a
	}
	a.network = netip.PrefixFrom(first, int(c.PrefixLength))
	a.gateway, _ = netip.ParseAddr(c.DefaultGatewayIP) // a subnet may have none
	for _, pool := range c.PoolList {
		from, to, _ := strings.Cut(pool.Range, " ")
		start, err := netip.ParseAddr(from)
		end, err2 := netip.ParseAddr(to)
		if err == nil && err2 == nil {
			a.pools = append(a.pools, [2]netip.Addr{start, end})
		}
	}
	return a
}

// containerOf reads a storage container, whose attributes are lists of values over time.
func containerOf(e *v3.GroupsEntity) container {
	one := container{uuid: e.EntityID}
	for _, d := range e.Data {
		if len(d.Values) == 0 || len(d.Values[len(d.Values)-1].Values) == 0 {
			continue
		}
		text := d.Values[len(d.Values)-1].Values[0]
		var free int64
		switch d.Name {
		case "container_name":
			one.name = text
		case "cluster":
			one.cluster = text
		case "storage.user_free_bytes", "storage.user_unreserved_free_bytes":
			if _, err := fmt.Sscan(text, &free); err == nil && one.freeBytes == nil {
				one.freeBytes = &free
			}
		}
	}
	return one
}
