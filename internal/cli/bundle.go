// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bundle"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/diagnosis/gather"
	"github.com/butlerdotdev/butler/internal/release"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) bundleCommand() *cobra.Command {
	var c workspace.Choice
	var to string
	cmd := &cobra.Command{
		Use:   "support-bundle CLUSTER",
		Short: "Collect what is known of a cluster, without secrets",
		Long: `Write an archive with the objects of the plane, events, logs of the controllers,
of the local plane and of the services of Talos, versions, the timeline, and the
answer of why. Credentials and user data are left out, and every value of a
Secret of the plane is replaced wherever it occurs. Read it before you send it:
it has names and addresses.`,
		Example: "  butleradm support-bundle prod --to prod.tar.gz",
		Args:    oneCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.Find(args[0])
			if err != nil {
				return err
			}
			if to == "" {
				to = w.Name + "-support.tar.gz"
			}
			return interrupted(cmd.Context(), a.supportBundle(cmd.Context(), w, to))
		},
	}
	registerChoice(&c, cmd)
	cmd.Flags().StringVar(&to, "to", "", "`FILE.tar.gz` to write (default: CLUSTER-support.tar.gz)")
	return cmd
}

// collection is what goes into a bundle.
type collection struct {
	files   map[string][]byte
	secrets bundle.Secrets
}

func (a App) supportBundle(ctx context.Context, w workspace.Workspace, to string) error {
	c := &collection{files: map[string][]byte{}}
	facts, err := gather.Facts(ctx, w)
	if err != nil {
		return err
	}
	if err := c.diagnosis(facts); err != nil {
		return err
	}
	if err := c.records(w); err != nil {
		return err
	}
	err = selfhosted.ReadInCharge(ctx, w, func(plane client.Client, cb *v1alpha1.ClusterBootstrap, _ error) error {
		return c.objects(ctx, w, plane, cb)
	})
	if err != nil {
		return err
	}
	return a.writeBundle(c, w, to)
}

func (a App) writeBundle(c *collection, w workspace.Workspace, to string) (err error) {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the bundle: %w; choose another file with --to", err)
	}
	if err := errors.Join(bundle.Write(f, w.Name, c.files, &c.secrets, time.Now()), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%d files are in %s; it has names and addresses, and no secrets of the plane\n", len(c.files), to)
	return nil
}

// diagnosis adds the facts, and what follows from them.
func (c *collection) diagnosis(f diagnosis.Facts) error {
	info, err := release.Describe()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	err = errors.Join(ui.PrintChain(&page, diagnosis.Explain(f), f.Time), c.json("facts.json", f), c.json("version.json", info))
	c.files["why.txt"] = page.Bytes()
	return err
}

// records adds the timeline and the logs on this machine.
func (c *collection) records(w workspace.Workspace) error {
	entries, err := timeline.Read(w.TimelineFile())
	if err != nil {
		return err
	}
	err = c.json("timeline.json", timeline.New(w.Name, entries, time.Now()))
	logs := []string{w.LogFile()}
	for _, pattern := range []string{filepath.Join(w.PlaneDir(), "*.log"), filepath.Join(w.SimDir(), "sim.log")} {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		logs = append(logs, found...)
	}
	for _, path := range logs {
		if data, failed := os.ReadFile(path); failed == nil {
			c.files["logs/"+filepath.Base(path)] = data
		}
	}
	return err
}

// objects adds those of the plane, events, and the logs of Talos. Secrets are read to be
// redacted.
func (c *collection) objects(ctx context.Context, w workspace.Workspace, plane client.Client, cb *v1alpha1.ClusterBootstrap) error {
	if cb == nil {
		return nil
	}
	var secrets corev1.SecretList
	if err := plane.List(ctx, &secrets); err != nil {
		return err
	}
	for _, s := range secrets.Items {
		for _, value := range s.Data {
			c.secrets.Add(value)
		}
	}
	lists := map[string]client.ObjectList{
		"clusterbootstraps": &v1alpha1.ClusterBootstrapList{}, "providerconfigs": &v1alpha1.ProviderConfigList{}, "machinerequests": &v1alpha1.MachineRequestList{},
		"loadbalancerrequests": &v1alpha1.LoadBalancerRequestList{}, "ipallocations": &v1alpha1.IPAllocationList{}, "networkpools": &v1alpha1.NetworkPoolList{},
		"tenantclusters": &v1alpha1.TenantClusterList{}, "events": &corev1.EventList{},
	}
	for name, list := range lists {
		if err := plane.List(ctx, list); err != nil {
			c.files["objects/"+name+".yaml"] = []byte("# " + err.Error() + "\n")
			continue
		}
		c.withhold(list)
		data, err := yaml.Marshal(list)
		if err != nil {
			return err
		}
		c.files["objects/"+name+".yaml"] = data
	}
	for name, text := range gather.Logs(ctx, w, plane, cb) {
		c.files["talos/"+strings.ReplaceAll(name, "/", "-")+".log"] = text
	}
	return nil
}

// withhold removes the fields that hold credentials or user data, and adds those to the
// secrets.
func (c *collection) withhold(list client.ObjectList) {
	switch l := list.(type) {
	case *v1alpha1.ClusterBootstrapList:
		for i := range l.Items {
			l.Items[i] = *withoutCredentials(&l.Items[i])
			withholdPatches(&l.Items[i].Spec.Talos)
		}
	case *v1alpha1.MachineRequestList:
		for i := range l.Items {
			c.secrets.Add([]byte(l.Items[i].Spec.UserData))
			l.Items[i].Spec.UserData, l.Items[i].ManagedFields = "", nil
		}
	}
}

// withholdPatches removes what patches write into the configuration of machines: it may hold
// a password.
func withholdPatches(t *v1alpha1.TalosSpec) {
	for i := range t.ConfigPatches {
		if t.ConfigPatches[i].Value != nil {
			t.ConfigPatches[i].Value = new(string(bundle.Redacted))
		}
	}
	for i := range t.StrategicPatches {
		t.StrategicPatches[i].Patch = bundle.Redacted
	}
}

func (c *collection) json(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	c.files[name] = append(data, '\n')
	return err
}
