// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// Suffixes of the names of parts.
const (
	suffixNIC      = "-nic"
	suffixAddress  = "-ip"
	suffixDisk     = "-os"
	suffixFrontend = "-frontend"
	suffixAllow    = "-allow"
	suffixDeny     = "-deny"
)

// mostName is how many characters the names of load balancers have.
const mostName = 80

// partName is the name of what belongs to a machine or a load balancer: it carries a mark
// of the owner, because Azure replaces an object of the same name without a question.
func partName(owner, name, suffix string) string {
	return cloud.Short(name, 56) + "-" + cloud.Hash(8, owner) + suffix
}

// original reports whether the driver gave the name to a part of the owner's machine, or
// load balancer. Tags are copied to clones and restored backups, names are not.
func original(name string, owner provider.Owner, of string) bool {
	return owner.ID != "" && strings.HasPrefix(strings.ToLower(name), strings.ToLower(partName(owner.ID, of, "-")))
}

// setName is the name of the availability set of a cluster.
func setName(owner provider.Owner) string {
	return partName(owner.ClusterID, owner.Cluster, "-control-planes")
}
