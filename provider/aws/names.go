// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// mostName is how many characters the names of load balancers and target groups have.
const mostName = 32

// balancerName is the name of a load balancer on AWS, which reserves a prefix.
func balancerName(name string) string {
	if strings.HasPrefix(name, "internal-") {
		name = "lb-" + name
	}
	return cloud.Short(name, mostName)
}

// groupName is the name of the target group of a port.
func groupName(name string, port int32) string { return cloud.Short(name, 26) + "-" + decimal(port) }

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
