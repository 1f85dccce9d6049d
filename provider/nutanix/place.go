// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons for places that are not there.
const (
	reasonCluster   = "ClusterNotFound"
	reasonContainer = "StorageNotFound"
	reasonProject   = "ProjectNotFound"
)

// home returns the cluster of the machines. A VM can run on AHV alone.
func (p *platform) home(ctx context.Context) (cluster, error) {
	all, err := p.listClusters(ctx)
	if err != nil {
		return cluster{}, err
	}
	if i := slices.IndexFunc(all, p.placed); i >= 0 {
		return all[i], onAHV(all[i])
	}
	return cluster{}, provider.Invalid.New("", reasonCluster, fmt.Errorf("there is no cluster %s that the user may see", p.spec.ClusterUUID), "correct spec.nutanix.clusterUUID, or register the cluster")
}

func onAHV(c cluster) error {
	for _, h := range c.hypervisors {
		if h != "" && h != "AHV" {
			return provider.Invalid.New("", provider.ReasonFieldUnsupported, fmt.Errorf("cluster %s runs %s", c.name, h), "use a cluster with AHV")
		}
	}
	return nil
}

// network returns the subnet of the machines.
func (p *platform) network(ctx context.Context) (subnet, error) {
	text := cmp.Or(p.spec.SubnetUUID, p.spec.SubnetName)
	return p.networks.Get(ctx, text, func(ctx context.Context) (subnet, error) {
		if p.spec.SubnetUUID != "" {
			return p.subnetByUUID(ctx)
		}
		return p.subnetNamed(ctx)
	})
}

func (p *platform) subnetByUUID(ctx context.Context) (subnet, error) {
	found, err := p.subnet(ctx, p.spec.SubnetUUID)
	switch {
	case gone(err):
		return subnet{}, noSubnet(fmt.Errorf("there is no subnet %s that the user may see", p.spec.SubnetUUID))
	case err == nil && !p.reaches(found):
		return subnet{}, noSubnet(fmt.Errorf("subnet %s is one of cluster %s", found.name, found.cluster))
	}
	return found, err
}

// subnetNamed returns the only subnet of the name that the cluster has.
func (p *platform) subnetNamed(ctx context.Context) (subnet, error) {
	all, err := p.listSubnets(ctx, "name=="+p.spec.SubnetName)
	if err != nil {
		return subnet{}, err
	}
	all = slices.DeleteFunc(all, func(s subnet) bool { return s.name != p.spec.SubnetName || !p.reaches(s) })
	switch len(all) {
	case 0:
		return subnet{}, noSubnet(fmt.Errorf("cluster %s has no subnet %q that the user may see", p.spec.ClusterUUID, p.spec.SubnetName))
	case 1:
		return all[0], nil
	}
	return subnet{}, noSubnet(fmt.Errorf("cluster %s has %d subnets %q", p.spec.ClusterUUID, len(all), p.spec.SubnetName))
}

// reaches reports whether the cluster has a subnet.
func (p *platform) reaches(s subnet) bool {
	return s.overlay || s.cluster == "" || s.cluster == p.spec.ClusterUUID
}

func noSubnet(err error) error {
	return provider.Invalid.New("", provider.ReasonNetworkNotFound, err, "set spec.nutanix.subnetUUID to a subnet of the cluster")
}

// containerOfDisk returns the UUID of the storage container of a disk: the one that it names, else
// that of the ProviderConfig, else none.
func (p *platform) containerOfDisk(ctx context.Context, d v1alpha1.DiskSpec) (string, error) {
	text := cmp.Or(d.StorageClass, p.spec.StorageContainerUUID, p.spec.StorageContainerName)
	if text == "" {
		return "", nil
	}
	found, err := p.storage(ctx, text)
	return found.uuid, err
}

// storage returns the storage container of the cluster with a UUID or name.
func (p *platform) storage(ctx context.Context, text string) (container, error) {
	all, err := p.containers.Get(ctx, "", p.listContainers)
	if err != nil {
		return container{}, err
	}
	for _, c := range all {
		if (c.uuid == text || c.name == text) && (c.cluster == "" || c.cluster == p.spec.ClusterUUID) {
			return c, nil
		}
	}
	return container{}, provider.Invalid.New("", reasonContainer, fmt.Errorf("cluster %s has no storage container %q that the user may see", p.spec.ClusterUUID, text), "correct spec.nutanix.storageContainerUUID or storageContainerName, or storageClass of the disk")
}

// projectFor returns the UUID of the project of the machines; empty means none.
func (p *platform) projectFor(ctx context.Context) (string, error) {
	text := p.spec.Project
	if text == "" {
		return "", nil
	}
	found, err := p.projects.Get(ctx, text, func(ctx context.Context) (project, error) {
		all, err := p.listProjects(ctx, "")
		for _, one := range all {
			if one.uuid == text || one.name == text {
				return one, err
			}
		}
		return project{}, cmp.Or(err, provider.Invalid.New("", reasonProject, fmt.Errorf("there is no project %q that the user may see", text), "correct spec.nutanix.project, or add the user to the project"))
	})
	return found.uuid, err
}
