// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"maps"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// mostTags is how many tags an object has.
const mostTags = 50

// clusterTag is the tag kubernetes.io/cluster/<name> in characters that Azure accepts.
func clusterTag(cluster string) string { return "kubernetes.io_cluster_" + cluster }

// ownerTags are those of every object that is created for the owner.
func ownerTags(owner provider.Owner, name string) map[string]string {
	tags := tag.Azure().Write(owner.Tags(name))
	if owner.Cluster != "" {
		tags[clusterTag(owner.Cluster)] = "owned"
	}
	return tags
}

// machineTags are those of a machine and its parts. Azure itself copies those of a machine
// to the disks that are created with it.
func machineTags(op string, s provider.MachineSpec) (map[string]string, error) {
	labels := map[string]string{}
	maps.Copy(labels, s.Labels)
	if s.Role != "" {
		labels[v1alpha1.LabelRole] = string(s.Role)
	}
	tags, err := tag.Azure().Labels(labels)
	if err == nil {
		err = refuseLabels(s.Labels)
	}
	if err == nil {
		maps.Copy(tags, ownerTags(s.Owner, s.Name))
	}
	if len(tags) > mostTags {
		err = fmt.Errorf("the machine would have %d tags, and Azure allows %d", len(tags), mostTags)
	}
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonFieldUnsupported, err, "correct spec.labels")
	}
	return tags, nil
}

// refuseLabels refuses names that Azure keeps for itself, and names that differ in case
// alone, which are one name there.
func refuseLabels(labels map[string]string) error {
	seen := map[string]string{}
	for name := range labels {
		lower := strings.ToLower(name)
		if other, twice := seen[lower]; twice {
			return fmt.Errorf("labels %s and %s are the same tag", min(name, other), max(name, other))
		}
		seen[lower] = name
		for _, kept := range []string{"microsoft", "azure", "windows"} {
			if strings.HasPrefix(lower, kept) {
				return fmt.Errorf("label %s: Azure reserves names that begin with %s", name, kept)
			}
		}
	}
	return nil
}

func written(tags map[string]string) map[string]*string {
	out := map[string]*string{}
	for k, v := range tags {
		out[k] = new(v)
	}
	return out
}

func tagMap(tags map[string]*string) map[string]string {
	out := map[string]string{}
	for k, v := range tags {
		out[k] = value(v)
	}
	return out
}

func tagsOf(tags map[string]*string) tag.Set { return tag.Azure().Read(tagMap(tags)) }

// owned reports whether tags are those of the owner's machine, or load balancer, of this
// name.
func owned(tags map[string]*string, owner provider.Owner, name string) bool {
	set := tagsOf(tags)
	return owner.ID != "" && set.OwnerID == owner.ID && set.Machine == name
}
