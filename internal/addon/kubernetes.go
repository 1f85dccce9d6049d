// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"fmt"
	"strconv"
	"strings"
)

// minors is a range of minor versions of Kubernetes 1.
type minors struct{ first, last int }

// documented are the Kubernetes versions that the projects themselves name for the
// default versions of their addons. Projects that name none, or only the oldest, are
// left out.
func documented() map[string]minors {
	return map[string]minors{
		Cilium:      {29, 32},
		CertManager: {25, 32},
		CAPI:        {28, 32},
	}
}

// untested names the addons of a cluster, with their default versions, that are not
// documented for its Kubernetes.
func (c cluster) untested() (out []string) {
	minor, err := minorOf(c.facts.KubernetesVersion)
	if err != nil {
		return nil
	}
	for _, r := range catalogue() {
		m, known := documented()[r.key]
		if !known || !r.installed(c) || like(r.version, r.override(c.Addons)) != r.version && r.override(c.Addons) != "" {
			continue
		}
		if minor < m.first || minor > m.last {
			out = append(out, fmt.Sprintf("%s %s (Kubernetes 1.%d to 1.%d)", r.key, r.version, m.first, m.last))
		}
	}
	return out
}

func minorOf(kubernetes string) (int, error) {
	parts := strings.Split(kubernetes, ".")
	if len(parts) < 2 {
		return 0, fmt.Errorf("kubernetes version %q: want a version such as 1.32.0", kubernetes)
	}
	return strconv.Atoi(parts[1])
}
