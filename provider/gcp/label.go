// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// labelZone is the zone that an object was created in. Labels are copied to clones and
	// restored backups: one of another name or zone is a copy.
	labelZone = "butler-zone"
	// labelRole is the role of a machine.
	labelRole = "butler-role"
	// mostLabels is how many labels an object has.
	mostLabels = 64
	// mostName is how many characters a name has.
	mostName = 63
)

var machineName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

// checkName refuses names that Compute Engine does not accept. The name of a machine is
// that of its node, so that it is not changed.
func checkName(op, name string) error {
	if machineName.MatchString(name) {
		return nil
	}
	return provider.Invalid.New(op, "NameInvalid", fmt.Errorf("%q cannot be the name of an instance: it begins with a letter, has lower-case letters, digits and dashes, and at most %d characters", name, mostName), "choose another name of the machine or of the cluster")
}

// labelsOf are those of a machine and of its disks.
func labelsOf(op string, s provider.MachineSpec, zone string) (map[string]string, error) {
	labels, err := tag.GCP().Labels(s.Labels)
	if err == nil {
		err = reservedLabel(s.Labels)
	}
	if err == nil {
		maps.Copy(labels, tag.GCP().Write(s.Owner.Tags(s.Name)))
		if labels[labelZone] = zone; s.Role != "" {
			labels[labelRole] = string(s.Role)
		}
		err = checkLabels(labels)
	}
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonFieldUnsupported, err, "correct spec.labels")
	}
	return labels, nil
}

func checkLabels(labels map[string]string) error {
	if len(labels) > mostLabels {
		return fmt.Errorf("the machine would have %d labels, and Google Cloud allows %d", len(labels), mostLabels)
	}
	return nil
}

// reservedLabel refuses labels that Google or the driver keep for themselves.
func reservedLabel(labels map[string]string) error {
	for name := range labels {
		if strings.HasPrefix(name, "goog") || name == labelZone || strings.HasPrefix(name, "butler-") {
			return errors.New("label " + name + ": names that begin with goog or butler- are reserved")
		}
	}
	return nil
}

// diskName is the name of a disk: the first one has that of the machine.
func diskName(machine string, i int) string {
	if i == 0 {
		return machine
	}
	suffix := fmt.Sprintf("-disk-%d", i)
	return cloud.Short(machine, mostName-len(suffix)) + suffix
}

// refuseSpec refuses what a spec can say but Compute Engine cannot do.
func refuseSpec(op string, s provider.MachineSpec) error {
	if err := provider.CheckSpec(op, s, v1alpha1.Group+"/zone"); err != nil {
		return err
	}
	if err := checkName(op, s.Name); err != nil {
		return err
	}
	return cloud.CheckUserData(op, "Compute Engine", s, mostUserData)
}

// mostUserData is what a value of metadata has, in bytes.
const mostUserData = 256 << 10
