// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/audit"
)

// bootstrapSecret is how the names of Secrets end that the Cluster API provider for KubeVirt
// creates. The configuration of a worker travels in them, with a token to join its cluster.
const bootstrapSecret = "-userdata"

// content is what a request writes to the platform, without the configuration of a worker that
// is meant to travel there. One of a control plane has keys of a cluster, and is not.
func content(body []byte) []byte {
	s := corev1.Secret{}
	if json.Unmarshal(body, &s) != nil || s.Kind != "Secret" || !bytes.HasSuffix([]byte(s.Name), []byte(bootstrapSecret)) {
		return body
	}
	data := s.Data["userdata"]
	if !audit.Configures(data) || !bytes.Contains(data, []byte("type: worker")) || bytes.Contains(data, []byte("\n    key: ")) {
		return body
	}
	delete(s.Data, "userdata")
	raw, err := json.Marshal(s)
	if err != nil {
		return body
	}
	return raw
}
