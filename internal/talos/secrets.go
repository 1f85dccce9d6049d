// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"
)

// clockSkew is how far a node's clock may be behind before it takes our
// certificates for ones from the future.
const clockSkew = 5 * time.Minute

// NewSecrets generates the keys and tokens of a new cluster and returns them in
// the form that talosctl knows as secrets.yaml. Make it once per cluster and
// keep it: all configurations and credentials derive from it.
func NewSecrets(talosVersion string) ([]byte, error) {
	contract, err := versionContract(talosVersion)
	if err != nil {
		return nil, err
	}
	bundle, err := secrets.NewBundle(clock(), contract)
	if err != nil {
		return nil, fmt.Errorf("generate secrets bundle for talos %s: %w", talosVersion, err)
	}
	return encodeSecrets(bundle)
}

func encodeSecrets(bundle *secrets.Bundle) ([]byte, error) {
	data, err := yaml.Marshal(bundle)
	if err != nil {
		return nil, fmt.Errorf("encode secrets bundle: %w", err)
	}
	return data, nil
}

// parseSecrets keeps the decoder's words out of its errors: they may quote
// the input.
func parseSecrets(data []byte) (*secrets.Bundle, error) {
	bundle := &secrets.Bundle{}
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(bundle); err != nil {
		return nil, errors.New("parse secrets bundle: not a YAML document of the expected form")
	}
	bundle.Clock = clock()
	if err := bundle.Validate(); err != nil {
		return nil, fmt.Errorf("secrets bundle is incomplete: %w", err)
	}
	return bundle, nil
}

func clock() secrets.Clock {
	return secrets.NewFixedClock(time.Now().Add(-clockSkew))
}
