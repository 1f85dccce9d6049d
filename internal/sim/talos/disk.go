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

func (d disk) configPath() string  { return filepath.Join(d.dir, "config.yaml") }
func (d disk) etcdPath() string    { return filepath.Join(d.dir, "etcd-member") }
func (d disk) podsPath() string    { return filepath.Join(d.dir, "pods") }
func (d disk) kubeletPath() string { return filepath.Join(d.dir, "kubelet.pem") }

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

// etcdData represents a control plane's data directory of etcd.
type etcdData struct {
	Member uint64
	First  bool // was bootstrapped, and did not join
}

// etcd returns false if etcd has written nothing so far.
func (d disk) etcd() (data etcdData, ok bool) {
	raw, err := os.ReadFile(d.etcdPath())
	if err != nil {
		return etcdData{}, false
	}
	var how string
	if _, err := fmt.Sscanf(string(raw), etcdFormat, &how, &data.Member); err != nil {
		return etcdData{}, false
	}
	data.First = how == etcdFirst
	return data, true
}

func (d disk) writeEtcd(data etcdData) error {
	how := etcdJoined
	if data.First {
		how = etcdFirst
	}
	return plane.WriteFile(d.etcdPath(), fmt.Appendf(nil, etcdFormat, how, data.Member))
}

const (
	etcdFormat = "%s %x"
	etcdFirst  = "first"
	etcdJoined = "joined"
)

// wipe takes the configuration last, so that a wipe that was cut short is seen
// as a configured node without etcd, never as a blank one with old data.
func (d disk) wipe() error {
	return errors.Join(os.RemoveAll(d.podsPath()), os.RemoveAll(d.kubeletPath()), os.RemoveAll(d.etcdPath()), os.RemoveAll(d.configPath()))
}
