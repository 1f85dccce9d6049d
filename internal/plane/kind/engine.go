// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/butlerdotdev/butler/internal/failure"
)

// Engine runs KIND clusters.
type Engine interface {
	// Exists reports whether there is a cluster of the name. It is an error if no
	// container engine answers.
	Exists(name string) (bool, error)
	// Create creates a cluster whose kubeconfig is only that of Kubeconfig.
	Create(name string) error
	// Kubeconfig returns an administrator's kubeconfig that works on this machine.
	Kubeconfig(name string) ([]byte, error)
	// Load imports an image into all nodes, from a file as docker save writes it.
	Load(name string, image io.ReadSeeker) error
	// Delete deletes a cluster. It is no error if there is none.
	Delete(name string) error
}

// readyWithin is how long a new cluster may take until its node is Ready.
const readyWithin = 3 * time.Minute

// Library is KIND's own library. It needs Docker, Podman or nerdctl.
type Library struct {
	// File is the kubeconfig that the library writes to, instead of the user's own.
	File string
	// Image is that of the nodes; empty: the library's own choice.
	Image string
}

// provider finds the container engine. It reports one that is installed and does not
// answer as well.
func (l Library) provider() (*cluster.Provider, error) {
	found, err := cluster.DetectNodeProvider()
	if err != nil {
		return nil, failure.Usagef("--plane kind needs Docker or Podman, and this machine has neither; leave out --plane: the embedded plane needs nothing")
	}
	p := cluster.NewProvider(found)
	if _, err := p.List(); err != nil {
		return nil, failure.Usagef("--plane kind needs Docker or Podman, and the one on this machine does not answer: %w; leave out --plane: the embedded plane needs nothing", withOutput(err))
	}
	return p, nil
}

// withOutput adds the last line of what a command of the library has written: the library's
// errors leave it out.
func withOutput(err error) error {
	ran := exec.RunErrorForError(err)
	if ran == nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(ran.Output)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// Exists implements Engine.
func (l Library) Exists(name string) (bool, error) {
	p, err := l.provider()
	if err != nil {
		return false, err
	}
	all, err := p.List()
	return slices.Contains(all, name), err
}

// Create implements Engine.
func (l Library) Create(name string) error {
	p, err := l.provider()
	if err != nil {
		return err
	}
	return withOutput(p.Create(name, cluster.CreateWithNodeImage(l.Image), cluster.CreateWithWaitForReady(readyWithin), cluster.CreateWithKubeconfigPath(l.File)))
}

// Kubeconfig implements Engine.
func (l Library) Kubeconfig(name string) ([]byte, error) {
	p, err := l.provider()
	if err != nil {
		return nil, err
	}
	text, err := p.KubeConfig(name, false)
	return []byte(text), withOutput(err)
}

// Load implements Engine.
func (l Library) Load(name string, image io.ReadSeeker) error {
	p, err := l.provider()
	if err != nil {
		return err
	}
	nodes, err := p.ListInternalNodes(name)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if _, err := image.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := nodeutils.LoadImageArchive(n, image); err != nil {
			return withOutput(err)
		}
	}
	return nil
}

// Delete implements Engine.
func (l Library) Delete(name string) error {
	p, err := l.provider()
	if err != nil {
		return err
	}
	return withOutput(p.Delete(name, l.File))
}
