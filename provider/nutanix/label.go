// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// mostUserData is how long user data may be in base64.
	mostUserData = 128000
	// mostName is how many characters the name of a VM has.
	mostName = 256
)

// labelsOf returns the categories for the labels of a machine, without those that repeat its
// role and cluster: the category of the cluster and the description have them.
func labelsOf(op string, s provider.MachineSpec) (map[string]string, error) {
	given := maps.Clone(s.Labels)
	maps.DeleteFunc(given, func(name, _ string) bool { return name == v1alpha1.LabelRole || name == tag.Cluster })
	labels, err := tag.Nutanix().Labels(given)
	for name := range given {
		if err == nil && strings.HasPrefix(name, categoryPrefix) {
			err = errors.New("label " + name + ": categories that begin with " + categoryPrefix + " are the driver's")
		}
	}
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonFieldUnsupported, err, "correct spec.labels")
	}
	return labels, nil
}

// refuseSpec refuses what a spec can say but Prism Central cannot do.
func (p *platform) refuseSpec(op string, s provider.MachineSpec) error {
	if err := provider.CheckSpec(op, s); err != nil {
		return err
	}
	if _, err := labelsOf(op, s); err != nil {
		return err
	}
	refuse := func(reason string, err error, hint string) error { return provider.Invalid.New(op, reason, err, hint) }
	switch cores := p.cores(); {
	case len(s.Name) > mostName:
		return refuse("NameInvalid", fmt.Errorf("the name has %d characters, and that of a VM has at most %d", len(s.Name), mostName), "choose another name of the machine or of the cluster")
	case s.NetworkData != "":
		return refuse(provider.ReasonFieldUnsupported, errors.New("networkData: the guest customization of Prism Central does not support it"), "remove it, and let DHCP or the IP pool of the subnet assign addresses")
	case base64.StdEncoding.EncodedLen(len(s.UserData)) > mostUserData:
		return refuse(provider.ReasonUserDataTooLong, fmt.Errorf("userData has %d bytes, and Prism Central accepts %d", len(s.UserData), mostUserData/4*3), "make it shorter")
	case s.CPU%cores != 0:
		return refuse(provider.ReasonFieldUnsupported, fmt.Errorf("%d processors cannot be divided into sockets of %d cores", s.CPU, cores), "change cpu, or spec.nutanix.coresPerSocket")
	}
	return nil
}

// cores is how many cores a socket of a machine has.
func (p *platform) cores() int32 { return max(1, p.spec.CoresPerSocket) }
