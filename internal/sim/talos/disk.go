// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"github.com/butlerdotdev/butler/internal/plane"
)

// disk is what a node keeps over power-off.
type disk struct{ dir string }

func (d disk) configPath() string    { return filepath.Join(d.dir, "config.yaml") }
func (d disk) etcdPath() string      { return filepath.Join(d.dir, "etcd-member") }
func (d disk) kubernetesDir() string { return filepath.Join(d.dir, "kubernetes") }

// config returns nil if the node has none.
func (d disk) config() (config.Provider, error) {
	data, err := os.ReadFile(d.configPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the node's configuration: %w", err)
	}
	return configloader.NewFromBytes(data)
}

func (d disk) writeConfig(data []byte) error { return plane.WriteFile(d.configPath(), data) }

// The roles of a control plane in etcd, as kept on its disk.
const (
	etcdFirst  = "first"  // was bootstrapped: the control plane's data is here
	etcdJoined = "joined" // joined the one that was
)

// etcd returns the node's role in etcd; empty if it has none yet.
func (d disk) etcd() string {
	data, err := os.ReadFile(d.etcdPath())
	if err != nil {
		return ""
	}
	return string(data)
}

func (d disk) writeEtcd(role string) error { return plane.WriteFile(d.etcdPath(), []byte(role)) }

// wipe takes the configuration last, so that a wipe that was cut short is seen
// as a configured node without etcd, never as a blank one with old data.
func (d disk) wipe() error {
	return errors.Join(os.RemoveAll(d.etcdPath()), os.RemoveAll(d.kubernetesDir()), os.RemoveAll(d.configPath()))
}

// configured reports whether data, such as user data, is a configuration that
// Talos would boot with.
func configured(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil || !cfg.CompleteForBoot() {
		return false
	}
	_, err = cfg.Validate(metal{})
	return err == nil
}

// metal is the mode of machines that install Talos on a disk.
type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return true }
func (metal) InContainer() bool     { return false }
