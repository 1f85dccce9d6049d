// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"bytes"
	"context"
	"os"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	simgcp "github.com/butlerdotdev/butler/internal/sim/gcp"
	simnutanix "github.com/butlerdotdev/butler/internal/sim/nutanix"
	simproxmox "github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func harvesterObjects(ctx context.Context, admin string) (map[string][]string, error) {
	access, err := clientcmd.BuildConfigFromFlags("", admin)
	if err != nil {
		return nil, err
	}
	api, err := dynamic.NewForConfig(access)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, kind := range []schema.GroupVersionResource{{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"}, {Version: "v1", Resource: "persistentvolumeclaims"}} {
		all, err := api.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		found[kind.Resource] = nil
		for _, o := range all.Items {
			found[kind.Resource] = append(found[kind.Resource], o.GetName())
		}
	}
	return found, nil
}

// authority is the setting of a configuration file that names the simulator's authority.
var authority = regexp.MustCompile(`(?m)^ca_bundle = (.*)$`)

func awsObjects(ctx context.Context, admin string) (map[string][]string, error) {
	settings, err := os.ReadFile(admin)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(string(authority.FindSubmatch(settings)[1]))
	if err != nil {
		return nil, err
	}
	c, err := config.LoadDefaultConfig(ctx, config.WithSharedConfigFiles([]string{admin}), config.WithSharedCredentialsFiles([]string{admin}),
		config.WithCustomCABundle(bytes.NewReader(ca)))
	if err != nil {
		return nil, err
	}
	api := ec2.NewFromConfig(c)
	instances, err := api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
	if err != nil {
		return nil, err
	}
	volumes, err := api.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{})
	if err != nil {
		return nil, err
	}
	found := map[string][]string{"instances": nil, "volumes": nil}
	for _, r := range instances.Reservations {
		for _, i := range r.Instances {
			if i.State.Name != types.InstanceStateNameTerminated {
				found["instances"] = append(found["instances"], nameOf(i.Tags))
			}
		}
	}
	for _, v := range volumes.Volumes {
		found["volumes"] = append(found["volumes"], nameOf(v.Tags))
	}
	return found, nil
}

func gcpObjects(ctx context.Context, admin string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, collection := range []string{"instances", "disks"} {
		all, err := simgcp.List(ctx, admin, collection)
		if err != nil {
			return nil, err
		}
		found[collection] = nil
		for _, o := range all {
			found[collection] = append(found[collection], o.Name)
		}
	}
	return found, nil
}

// nutanixObjects returns VMs, and categories that the platform does not define. Those that a
// VM has belong to it: a copy keeps the category of its cluster.
func nutanixObjects(ctx context.Context, admin string) (map[string][]string, error) {
	vms, err := simnutanix.List(ctx, admin, "vms")
	if err != nil {
		return nil, err
	}
	categories, err := simnutanix.List(ctx, admin, "categories")
	if err != nil {
		return nil, err
	}
	var names []string
	used := map[string]bool{}
	for _, vm := range vms {
		names = append(names, vm.Name)
		for key := range vm.Categories {
			used[key] = true
		}
	}
	for _, c := range categories {
		if !c.SystemDefined && !used[c.Name] {
			names = append(names, "category "+c.Name)
		}
	}
	return map[string][]string{"vms and categories": names}, nil
}

// proxmoxObjects names the volumes of a VM after it.
func proxmoxObjects(ctx context.Context, admin string) (map[string][]string, error) {
	c, err := simproxmox.Open(admin)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	vms, err := c.VMs(ctx)
	if err != nil {
		return nil, err
	}
	volumes, err := c.Volumes(ctx)
	if err != nil {
		return nil, err
	}
	found, names := map[string][]string{"vms": nil, "volumes": nil}, map[int]string{}
	for _, vm := range vms {
		found["vms"] = append(found["vms"], vm.Name)
		names[vm.VMID] = vm.Name + " "
	}
	for _, v := range volumes {
		found["volumes"] = append(found["volumes"], names[v.VMID]+v.VolID)
	}
	return found, nil
}

func nameOf(tags []types.Tag) string {
	for _, t := range tags {
		if *t.Key == "Name" {
			return *t.Value
		}
	}
	return "without a name"
}
