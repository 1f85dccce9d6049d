// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestTheCredentialsOfThisMachineDoNotTravel: a cluster is handed those that were
// given for it. What kubectl would use here is used from here alone, whether it is
// read now or was when the cluster had no controllers of its own.
func TestTheCredentialsOfThisMachineDoNotTravel(t *testing.T) {
	a := newAdm(t)
	around := a.kubeconfig(a.startPlatform(), func(*clientcmdapi.Config) {})
	alone := file(t, "alone.yaml", edited(t, example)+addonsNone)
	own := file(t, "own.yaml", edited(t, example)+strings.Replace(addonsNone, "butlerController: {enabled: false}", "butlerController: {enabled: true}", 1))
	const refused = "are never copied to a cluster, and the controllers of dev-cluster need credentials; pass a file with --credentials, add the Secret harvester-kubeconfig to the manifest"

	cmd, _, problems := a.command("bootstrap", "harvester", "-c", own, "--yes")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+around)
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(oneLine(problems.String()), refused) {
		t.Errorf("with controllers of its own: %v\n%s", err, problems)
	}
	if left, err := filepath.Glob(filepath.Join(a.home, "clusters", "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}

	cmd, _, problems = a.command("bootstrap", "harvester", "-c", alone, "--yes")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+around)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(problems.String(), "dev-cluster-cp-0 Running at 192.0.2.") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if r := a.run("bootstrap", "harvester", "-c", own, "--yes"); r.code != 2 || !strings.Contains(oneLine(r.err), refused) {
		t.Errorf("with controllers of its own later: exit %d\n%s", r.code, r.err)
	}
	a.ok("destroy", "dev-cluster", "--yes")
}
