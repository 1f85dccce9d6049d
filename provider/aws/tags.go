// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// tagName is the name that AWS' own tools show.
	tagName = "Name"
	// tagSnapshot is the snapshot that the root disk is created from. A disk with the tags
	// of a machine and another snapshot was restored from a backup.
	tagSnapshot = v1alpha1.Group + "/snapshot"
	// mostTags is how many tags an object has.
	mostTags = 50
)

// clusterTag is how the cloud controller manager finds what belongs to a cluster.
func clusterTag(cluster string) string { return "kubernetes.io/cluster/" + cluster }

// ownerTags are those of every object that is created for the owner.
func ownerTags(owner provider.Owner, name string) map[string]string {
	tags := tag.AWS().Write(owner.Tags(name))
	tags[tagName] = name
	if owner.Cluster != "" {
		tags[clusterTag(owner.Cluster)] = "owned"
	}
	return tags
}

// machineTags are those of a machine, its disks and its interface.
func machineTags(op string, s provider.MachineSpec, snapshot string) (map[string]string, error) {
	tags, err := tag.AWS().Labels(s.Labels)
	if err == nil {
		err = errors.Join(reservedLabel(s.Labels), addTags(tags, s, snapshot))
	}
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonFieldUnsupported, err, "correct spec.labels")
	}
	return tags, nil
}

// addTags adds what the driver itself writes.
func addTags(tags map[string]string, s provider.MachineSpec, snapshot string) error {
	maps.Copy(tags, ownerTags(s.Owner, s.Name))
	if s.Role != "" {
		tags[v1alpha1.LabelRole] = string(s.Role)
	}
	if snapshot != "" {
		tags[tagSnapshot] = snapshot
	}
	if len(tags) > mostTags {
		return fmt.Errorf("the machine would have %d tags, and AWS allows %d", len(tags), mostTags)
	}
	return nil
}

// reservedLabel refuses labels that AWS keeps for itself.
func reservedLabel(labels map[string]string) error {
	for name := range labels {
		if strings.HasPrefix(strings.ToLower(name), "aws:") {
			return errors.New("label " + name + ": AWS reserves names that begin with aws:")
		}
	}
	return nil
}

// tagList returns tags as EC2 has them, in a fixed order.
func tagList(tags map[string]string) (all []types.Tag) {
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: new(k), Value: new(tags[k])})
	}
	return all
}

// tagMap is the inverse of tagList.
func tagMap(all []types.Tag) map[string]string {
	tags := map[string]string{}
	for _, t := range all {
		tags[value(t.Key)] = value(t.Value)
	}
	return tags
}

func tagsOf(all []types.Tag) tag.Set { return tag.AWS().Read(tagMap(all)) }

// filter selects what has one of the values.
func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: &name, Values: values}
}

// ownedBy selects what carries the owner's ids; the name of the cluster decides nothing.
func ownedBy(owner provider.Owner) []types.Filter {
	var all []types.Filter
	for name, id := range map[string]string{tag.OwnerID: owner.ID, tag.ClusterID: owner.ClusterID} {
		if id != "" {
			all = append(all, filter("tag:"+name, id))
		}
	}
	if all == nil {
		all = append(all, filter("tag-key", tag.OwnerID))
	}
	slices.SortFunc(all, func(a, b types.Filter) int { return strings.Compare(*a.Name, *b.Name) })
	return all
}
