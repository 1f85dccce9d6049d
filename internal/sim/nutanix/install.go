// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// The clusters that Prism Central itself is, and the one that answers in its place.
const (
	firstCentral  = "710e3779-0030-4d55-9827-be11e7fd2d0e"
	secondCentral = "5c0f9a52-6a6e-4d06-8f0e-3f1f0f2b8a77"
)

// central is the UUID of the cluster that Prism Central is.
func (p *Prism) central() string {
	if p.Hosts {
		return firstCentral
	}
	return secondCentral
}

// stable is the UUID of an entity that is known by its name.
func stable(kind, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(kind+"/"+name)).String()
}

// identity is the UUID and the name of an entity that a manifest names by either.
func identity(kind, named, fallback string) (id, name string) {
	if model.IsUUID(named) {
		return named, fallback
	}
	return stable(kind, named), named
}

// cluster is the UUID of the cluster that machines run on.
func (p *Prism) cluster() string {
	id, _ := identity(kindCluster, p.seed.Cluster, "")
	return id
}

// install creates what the seed names and does not exist.
func (p *Prism) install() error {
	cidr, err := netip.ParsePrefix(p.seed.CIDR)
	if err != nil || !cidr.Addr().Is4() {
		return fmt.Errorf("the subnet of the simulated Nutanix has the prefix %q", p.seed.CIDR)
	}
	p.installClusters()
	p.installSubnets(cidr.Masked())
	p.installStorage()
	p.installImages()
	project, name := identity(kindProject, p.seed.Project, "butler")
	p.add(kindProject, project, object{"name": name, "resources": object{}}, object{"is_default": name == "default"})
	for _, name := range []string{"Environment", "AppType"} {
		p.st.categories.Ensure(name, &category{Name: name, System: true, Values: []categoryValue{{Value: "Default"}}})
	}
	return p.installUsers()
}

// add adds an entity unless there is one.
func (p *Prism) add(kind, id string, spec, status object) {
	if p.st.get(kind, id) != nil {
		return
	}
	created := time.Date(2024, 2, 5, 21, 15, 17, 0, time.UTC)
	p.st.put(&entity{Kind: kind, UUID: id, Spec: spec, Status: status, Created: created, Updated: created, State: stateComplete, Exists: true, Owner: stable(kindUser, adminName)})
}

func (p *Prism) installClusters() {
	id, name := identity(kindCluster, p.seed.Cluster, "butler-ahv")
	version := map[string]string{"AHV": "10.0.1.1", "ESX": "8.0.3"}[p.seed.Hypervisor]
	var servers []object
	for i := range 3 {
		servers = append(servers, object{"ip": fmt.Sprintf("10.10.0.%d", 11+i), "type": p.seed.Hypervisor, "version": version})
		p.installHost(i, id, version)
	}
	p.add(kindCluster, id, object{"name": name, "resources": object{}}, object{
		"config": clusterConfig("AOS", "NOS", "7.0.1.6"), "nodes": object{"hypervisor_server_list": anys(servers)},
		"network": object{"external_ip": "10.10.0.10", "external_data_services_ip": "10.10.0.20"},
	})
	p.add(kindCluster, p.central(), object{"name": "Unnamed", "resources": object{}}, object{
		"config": clusterConfig("PRISM_CENTRAL", "PRISM_CENTRAL", p.seed.Version), "nodes": object{},
	})
}

// clusterConfig is what a cluster says about its software.
func clusterConfig(service, software, version string) object {
	return object{
		"service_list": []any{service}, "operation_mode": "NORMAL", "is_available": true, "cluster_arch": "X86_64", "timezone": "UTC", "redundancy_factor": 2,
		"software_map": object{software: object{"software_type": software, "status": "INSTALLED", "version": version}},
		"build":        object{"build_type": "release", "version": version},
	}
}

func (p *Prism) installHost(i int, cluster, version string) {
	name := fmt.Sprintf("ahv-%d", i+1)
	p.add(kindHost, stable(kindHost, cluster+name), object{"name": name, "resources": object{"controller_vm": object{"ip": fmt.Sprintf("10.10.0.%d", 31+i)}}}, object{
		"cluster_reference": reference(kindCluster, cluster, ""), "num_cpu_sockets": 2, "num_cpu_cores": p.seed.HostCores, "cpu_capacity_hz": int64(p.seed.HostCores) * 2_900_000_000,
		"memory_capacity_mib": p.seed.HostMemoryMiB, "cpu_model": "Intel(R) Xeon(R) Gold 6542Y", "host_type": "HYPER_CONVERGED", "monitoring_state": "",
		"hypervisor": object{"ip": fmt.Sprintf("10.10.0.%d", 11+i), "num_vms": 0, "hypervisor_full_name": "Nutanix " + version}, "gpu_list": []any{}, "host_nics_id_list": []any{},
	})
}

func (p *Prism) installSubnets(cidr netip.Prefix) {
	id, name := identity(kindSubnet, p.seed.Subnet, "vlan40")
	gateway := p.seed.Gateway
	if gateway == "" {
		gateway = cidr.Addr().Next().String()
	}
	resources := object{"subnet_type": "VLAN", "vlan_id": 40, "vswitch_name": "br0"}
	if !p.seed.Unmanaged {
		pools := []any{object{"range": poolOf(cidr)}}
		if p.seed.NoPool {
			pools = []any{}
		}
		resources["ip_config"] = object{
			"subnet_ip": cidr.Addr().String(), "prefix_length": cidr.Bits(), "default_gateway_ip": gateway,
			"pool_list": pools, "dhcp_options": object{"domain_name_server_list": []any{gateway}},
		}
	}
	p.add(kindSubnet, id, object{"name": name, "resources": resources, "cluster_reference": reference(kindCluster, p.cluster(), p.nameOf(kindCluster, p.cluster()))}, nil)
}

// poolOf is the range of addresses that the platform assigns.
func poolOf(cidr netip.Prefix) string {
	from, last := cidr.Addr(), cidr.Addr().As4()
	for range 10 {
		from = from.Next()
	}
	for i := cidr.Bits(); i < 32; i++ {
		last[i/8] |= 1 << (7 - i%8)
	}
	return from.String() + " " + netip.AddrFrom4(last).Prev().String()
}

// prefix is that of a subnet.
func (e *entity) prefix() netip.Prefix {
	config := e.resources().sub("ip_config")
	prefix, _ := netip.ParsePrefix(fmt.Sprintf("%s/%d", config.str("subnet_ip"), config.num("prefix_length"))) // zero without
	return prefix
}

// usage adds how many addresses of a subnet are used.
func (p *Prism) usage(e *entity, out object) {
	if !out.has("ip_config") {
		return
	}
	assigned := 0
	for _, vm := range p.st.all(kindVM) {
		for _, n := range vm.resources().subs("nic_list") {
			if n.sub("subnet_reference").str("uuid") == e.UUID {
				assigned += len(n.subs("ip_endpoint_list"))
			}
		}
	}
	total := 1<<(32-e.prefix().Bits()) - 12
	out["ip_usage_stats"] = object{"num_assigned_ips": assigned, "num_free_ips": max(total-assigned, 0), "num_macs": assigned}
}

func (p *Prism) installStorage() {
	cluster := reference(kindCluster, p.cluster(), p.nameOf(kindCluster, p.cluster()))
	for i, named := range append([]string{p.seed.Container, defaultContainer}, p.seed.Containers...) {
		id, name := identity(kindContainer, named, []string{"butler", fmt.Sprint("container-", i)}[min(i, 1)])
		p.add(kindContainer, id, object{"name": name, "resources": object{}, "cluster_reference": cluster}, object{
			"capacity_bytes": p.seed.FreeBytes + 8<<40, "free_bytes": p.seed.FreeBytes,
		})
	}
}

// installImages creates the image of the manifest, and one of another distribution.
func (p *Prism) installImages() {
	fallback := p.seed.ImageName
	if fallback == "" {
		fallback = "talos-v1.9.2-openstack-amd64"
	}
	id, name := identity(kindImage, p.seed.Image, fallback)
	images := map[string]string{id: name, stable(kindImage, "ubuntu-24.04"): "ubuntu-24.04"}
	if p.seed.ImageName != "" && name != p.seed.ImageName {
		images[stable(kindImage, p.seed.ImageName)] = p.seed.ImageName
	}
	for id, name := range images {
		p.add(kindImage, id, object{"name": name, "resources": object{"image_type": "DISK_IMAGE", "architecture": "X86_64"}}, p.imported())
	}
}

// installUsers creates the users with their roles.
func (p *Prism) installUsers() error {
	r, err := documentedRole()
	if err != nil {
		return err
	}
	if len(p.seed.Permissions) > 0 {
		r.Permissions = p.seed.Permissions
	}
	p.installUser(adminName, role{Name: "Super Admin", Permissions: []string{"*"}}, true)
	p.installUser(userName, r, false)
	return nil
}

func (p *Prism) installUser(name string, r role, admin bool) {
	id := stable(kindUser, name)
	project, _ := identity(kindProject, p.seed.Project, "")
	var permissions []object
	for _, permission := range r.Permissions {
		one := stable(kindOperation, permission)
		permissions = append(permissions, reference(kindOperation, one, permission))
		p.add(kindOperation, one, object{"name": permission, "resources": object{"operation": permission}}, nil)
	}
	assigned := stable(kindRole, name)
	if e := p.st.get(kindRole, assigned); e != nil {
		p.st.remove(e) // its permissions are those of the seed
	}
	p.add(kindRole, assigned, object{"name": r.Name, "resources": object{"permission_reference_list": anys(permissions)}}, nil)
	policy := stable(kindPolicy, name)
	p.add(kindPolicy, policy, object{"name": r.Name + " " + name, "resources": object{
		"role_reference": reference(kindRole, assigned, r.Name), "user_reference_list": []any{reference(kindUser, id, name)},
	}}, nil)
	p.add(kindUser, id, object{"name": name, "resources": object{}}, object{
		"user_type": "LOCAL", "display_name": name, "access_control_policy_reference_list": []any{reference(kindPolicy, policy, r.Name+" "+name)},
		"projects_reference_list": []any{reference(kindProject, project, p.nameOf(kindProject, project))},
	})
	who := p.st.principals.ByID[name]
	if who == nil {
		who = &principal{Name: name, UUID: id, Password: randomHex(12), APIKey: randomHex(24), Admin: admin}
	}
	who.Permissions = r.Permissions
	p.st.principals.Put(name, who)
}
