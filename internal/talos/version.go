// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/gendata"
)

// kubernetesDefault is the first patch release of the Kubernetes minor version that
// each Talos minor version was released with. It does not follow later patches: one
// spec gives one version, whatever build reads it, and every Talos of that minor
// version takes it. A later patch is asked for by name.
func kubernetesDefault(contract *config.VersionContract) (string, bool) {
	switch *contract {
	case *config.TalosVersion1_7:
		return "1.30.0", true
	case *config.TalosVersion1_8:
		return "1.31.0", true
	case *config.TalosVersion1_9:
		return "1.32.0", true
	case *config.TalosVersion1_10:
		return "1.33.0", true
	case *config.TalosVersion1_11:
		return "1.34.0", true
	case *config.TalosVersion1_12:
		return "1.35.0", true
	case *config.TalosVersion1_13:
		return "1.36.0", true
	}
	return "", false
}

// KubernetesVersion returns the Kubernetes version to install with
// talosVersion: requested (with or without a leading v) if it is not empty,
// else the one that Talos was released with. Pairs that do not work together,
// and Talos versions that this build cannot configure, are errors.
func KubernetesVersion(talosVersion, requested string) (string, error) {
	contract, err := versionContract(talosVersion)
	if err != nil {
		return "", err
	}
	if requested == "" {
		requested, _ = kubernetesDefault(contract)
	}
	kubernetes, err := compatibility.ParseKubernetesVersion(requested)
	if err != nil {
		return "", fmt.Errorf("kubernetes version %q: %w", requested, err)
	}
	target, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: talosVersion})
	if err != nil {
		return "", fmt.Errorf("talos version %q: %w", talosVersion, err)
	}
	if err := kubernetes.SupportedWith(target); err != nil {
		return "", fmt.Errorf("kubernetes %s on talos %s: %w", kubernetes, talosVersion, err)
	}
	return kubernetes.String(), nil
}

// versionContract refuses what the linked machinery cannot generate: it knows
// the past of Talos, not its future.
func versionContract(talosVersion string) (*config.VersionContract, error) {
	contract, err := config.ParseContractFromVersion(talosVersion)
	if err != nil {
		return nil, fmt.Errorf("talos version %q: want a version such as v1.9.2", talosVersion)
	}
	newest, err := config.ParseContractFromVersion(gendata.VersionTag)
	if err != nil {
		return nil, fmt.Errorf("version of the linked talos machinery: %w", err)
	}
	if contract.Greater(newest) {
		return nil, fmt.Errorf("talos %s is newer than %s.x, the newest that this build can configure; use an older talos or a newer build", talosVersion, newest)
	}
	if _, ok := kubernetesDefault(contract); !ok {
		return nil, fmt.Errorf("talos %s is older than v1.7, the oldest that is supported", talosVersion)
	}
	return contract, nil
}
