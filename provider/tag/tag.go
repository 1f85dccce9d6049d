// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package tag writes on platform objects whom they belong to, and reads it back. It is
// all that drivers and simulated platforms share.
package tag

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Names of the tags, as they are without a Style. The first three are also those of
// annotations and labels of requests.
const (
	// OwnerID is the id of the request.
	OwnerID = v1alpha1.AnnotationOwnerID
	// ClusterID is the id of the cluster.
	ClusterID = v1alpha1.AnnotationClusterID
	// Cluster is the name of the cluster: it helps to find objects and decides nothing.
	Cluster = v1alpha1.LabelCluster
	// Machine is the name of the machine, or load balancer, that an object is a part of.
	Machine = v1alpha1.Group + "/machine"
)

// Set is what the tags of an object say. The ids are UUIDs and the names DNS labels, so
// that every Style can write them.
type Set struct{ OwnerID, ClusterID, Cluster, Machine string }

// Style is how a platform writes tags. The zero value writes the names as they are, for
// Kubernetes labels.
type Style struct {
	// Prefix replaces the API group and the slash in our names; empty leaves them.
	Prefix string
	// Joint joins name and value on a platform whose tags are single words. Such words
	// are the keys of the map, and all values are empty.
	Joint string
	// Name and Value match what the platform accepts; nil leaves that to the platform.
	// With a Joint, Name matches the whole word.
	Name, Value *regexp.Regexp
}

// Write returns the tags of an object; what the set does not have is left out.
func (s Style) Write(set Set) map[string]string {
	tags := map[string]string{}
	for name, value := range set.byName() {
		if value != "" {
			s.put(tags, name, value)
		}
	}
	return tags
}

// Read returns what the tags of an object say.
func (s Style) Read(tags map[string]string) Set {
	return Set{s.get(tags, OwnerID), s.get(tags, ClusterID), s.get(tags, Cluster), s.get(tags, Machine)}
}

// Labels returns the tags for the labels of a request. One that the platform does not
// accept, and two that become the same tag, are an error.
func (s Style) Labels(labels map[string]string) (map[string]string, error) {
	tags := map[string]string{}
	for name, value := range labels {
		before := len(tags)
		written := s.put(tags, name, value)
		switch {
		case len(tags) == before:
			return nil, fmt.Errorf("label %s: another label becomes the tag %q as well", name, written)
		case s.Name != nil && !s.Name.MatchString(written):
			return nil, fmt.Errorf("label %s: the platform accepts no tag %q", name, written)
		case s.Joint == "" && s.Value != nil && !s.Value.MatchString(value):
			return nil, fmt.Errorf("label %s: the platform accepts no tag with the value %q", name, value)
		}
	}
	return tags, nil
}

func (s Set) byName() map[string]string {
	return map[string]string{OwnerID: s.OwnerID, ClusterID: s.ClusterID, Cluster: s.Cluster, Machine: s.Machine}
}

// put adds a tag and returns its name.
func (s Style) put(tags map[string]string, name, value string) string {
	name = s.name(name)
	if s.Joint != "" {
		name, value = strings.TrimSuffix(name+s.Joint+value, s.Joint), ""
	}
	tags[name] = value
	return name
}

func (s Style) get(tags map[string]string, name string) string {
	name = s.name(name)
	if s.Joint == "" {
		return tags[name]
	}
	for word := range tags {
		if value, found := strings.CutPrefix(word, name+s.Joint); found {
			return value
		}
	}
	return ""
}

func (s Style) name(full string) string {
	const ours = v1alpha1.Group + "/"
	if own, found := strings.CutPrefix(full, ours); found {
		return cmp.Or(s.Prefix, ours) + own
	}
	return full
}
