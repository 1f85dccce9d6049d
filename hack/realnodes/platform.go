// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/hack/butleradm"
)

// platform is a simulated Harvester, whose machines are real nodes.
type platform struct {
	dir  string
	cmd  *exec.Cmd
	stop context.CancelFunc
}

// setup gives the platform the image of the manifest.
const setup = `{"seed": {"platform": {"images": ["default/talos-v1.12.0"]}}}`

// startPlatform returns when the platform answers, at the address of the gateway: pods on the
// nodes call it too.
func startPlatform(ctx context.Context, cli *butleradm.CLI, a addresses, boot string) (*platform, error) {
	file := filepath.Join(cli.Home(), "setup.json")
	if err := os.WriteFile(file, []byte(setup), 0o600); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &platform{dir: filepath.Join(cli.Home(), "platform"), stop: stop}
	p.cmd = cli.Command(ctx, "sim", "harvester", "--state-dir", p.dir, "--setup", file, "--subnet", a.Subnet.String(), "--listen", a.Gateway.String(), "--boot-command", boot)
	p.cmd.Stdout = nil
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "proxy: ") {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the simulated platform did not start: %w", p.close())
}

// credentials is the kubeconfig of the platform's user.
func (p *platform) credentials() string { return filepath.Join(p.dir, "kubeconfig") }

// close switches all machines off.
func (p *platform) close() error {
	p.stop()
	err := p.cmd.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lose deletes a virtual machine as an administrator of the platform would.
func (p *platform) lose(ctx context.Context, name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, "admin.yaml"))
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	machines := client.Resource(schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"})
	return machines.Namespace("default").Delete(ctx, name, metav1.DeleteOptions{})
}
