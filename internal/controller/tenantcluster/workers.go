// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// labelData is on Secrets with the machine configuration of workers.
const labelData = v1alpha1.Group + "/worker-data"

// vanilla is the schematic of Talos without extensions.
const vanilla = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// applyWorkers applies the machine configuration, the template and the MachineDeployment, in
// this order: some providers take a missing Secret for a final failure.
func applyWorkers(ctx context.Context, s *session) (*step.Obstacle, error) {
	name, err := s.applyData(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.read(ctx, s.kinds.deployment, s.key(tenant.Workers(s.Name)))
	if err != nil {
		return nil, err
	}
	s.input.BootstrapSecret, s.input.Scaled = name, found != nil
	if o, err := s.build(); o != nil || err != nil {
		return o, err
	}
	if s.upgrading != nil && !s.onlyScales(found) {
		return s.upgrading, nil
	}
	if err := s.applyObject(ctx, s.built.Template); err != nil {
		return nil, err
	}
	if err := s.applyObject(ctx, s.built.Workers); err != nil {
		return nil, err
	}
	if s.machines, err = s.list(ctx, s.kinds.machine, s.input.Namespace); err != nil {
		return nil, err
	}
	s.sets, err = s.list(ctx, s.kinds.set, s.input.Namespace)
	return nil, err
}

// onlyScales reports whether the workers that are wanted now differ from those of a
// MachineDeployment in their number alone. Others wait for the control plane: workers are
// replaced once for an upgrade, not twice.
func (s *session) onlyScales(deployment *unstructured.Unstructured) bool {
	return deployment != nil && s.input.BootstrapSecret == text(deployment, "spec", "template", "spec", "bootstrap", "dataSecretName") &&
		s.built.Template.GetName() == text(deployment, "spec", "template", "spec", "infrastructureRef", "name")
}

// current reports whether a machine is as workers are wanted now. The counts of a
// MachineDeployment say so only some time after it was changed.
func (s *session) current(m *unstructured.Unstructured) bool {
	if text(m, "spec", "version") != s.Spec.KubernetesVersion || text(m, "spec", "bootstrap", "dataSecretName") != s.input.BootstrapSecret {
		return false
	}
	for _, owner := range m.GetOwnerReferences() {
		for i := range s.sets {
			if owner.UID == s.sets[i].GetUID() {
				return text(&s.sets[i], "spec", "template", "spec", "infrastructureRef", "name") == s.built.Template.GetName()
			}
		}
	}
	return true
}

// outdated counts the machines that are to be replaced.
func (s *session) outdated() (n int64) {
	for i := range s.machines {
		if !s.current(&s.machines[i]) {
			n++
		}
	}
	return n
}

// applyData writes the Secret with the machine configuration. Its name has a hash of the
// configuration without the bootstrap token: a renewed token replaces no worker.
func (s *session) applyData(ctx context.Context) (name string, err error) {
	hosted := s.hosted()
	hosted.Keys.BootstrapToken = "aaaaaa.aaaaaaaaaaaaaaaa"
	constant, err := talos.WorkerConfig(hosted, talos.HostedWorker{})
	if err != nil {
		return "", &step.Failure{Reason: "InvalidConfiguration", Message: err.Error()}
	}
	sum := sha256.Sum256(constant)
	name = tenant.Workers(s.Name) + "-" + hex.EncodeToString(sum[:4])
	data, err := talos.WorkerConfig(s.hosted(), talos.HostedWorker{})
	if err != nil {
		return "", &step.Failure{Reason: "InvalidConfiguration", Message: err.Error()}
	}
	if s.mangled() {
		data = []byte("#cloud-config\n{}\n") // the configuration is pushed
	}
	labels := s.labels()
	labels[labelData] = "true"
	secret := corev1ac.Secret(name, s.input.Namespace).WithLabels(labels).WithType("cluster.x-k8s.io/secret").WithData(map[string][]byte{"value": data})
	return name, s.applyKept(ctx, keptKey{"Secret", s.input.Namespace, name}, secret, secret)
}

// hosted is what the configurations of all workers share.
func (s *session) hosted() talos.Hosted {
	os := s.Spec.Workers.MachineTemplate.OS
	p := s.provider.Spec
	h := talos.Hosted{
		Name: s.Name, Endpoint: s.Status.ControlPlaneEndpoint, TalosVersion: os.Talos.Version, KubernetesVersion: s.Spec.KubernetesVersion,
		Schematic: cmp.Or(os.SchematicID, vanilla), InstallerImage: os.Talos.InstallerImage, InstallDisk: os.Talos.InstallDisk,
		PodCIDR: s.Spec.Networking.PodCIDR, ServiceCIDR: s.Spec.Networking.ServiceCIDR, TimeServers: s.timeServers(),
		HostEntries: s.hostEntries(), WithoutKubePrism: s.byHostname(),
		ExternalCloudProvider: s.cloudController(), KubeletMounts: addon.KubeletMounts(s.addonSpec()),
		Keys: talos.HostedKeys{TalosCA: s.keys.talosCA, TalosToken: s.keys.talosToken, ClusterCA: s.keys.clusterCA, BootstrapToken: s.keys.token},
	}
	if !p.Provider.OnPrem() {
		h.Platform, h.InstallDisk = string(p.Provider), ""
	}
	return h
}

// timeServers are those of the cluster, of its platform, or of the ButlerConfig.
func (s *session) timeServers() []string {
	switch n := s.provider.Spec.Network; {
	case len(s.Spec.TimeServers) > 0:
		return s.Spec.TimeServers
	case n != nil && len(n.TimeServers) > 0:
		return n.TimeServers
	case s.config != nil:
		return s.config.Spec.DefaultTimeServers
	}
	return nil
}

// awaitWorkers waits until there are as many workers as requested, all of them current and
// Ready. Machines and nodes are counted in this walk.
func awaitWorkers(ctx context.Context, s *session) (*step.Obstacle, error) {
	found, err := s.read(ctx, s.kinds.deployment, s.key(tenant.Workers(s.Name)))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return reported("WaitingForWorkers", "MachineDeployment %s is being created", tenant.Workers(s.Name)), nil
	}
	desired := s.desired(found)
	if err := s.readWarnings(ctx); err != nil {
		return nil, err
	}
	if o := s.rollout(found, desired); o != nil {
		return o, nil
	}
	o := s.waiting(desired)
	if o != nil && s.deferred != nil {
		return s.deferred, nil // why a machine has not joined
	}
	return o, nil
}

// desired is how many workers there should be: with an autoscaler, what that has decided.
func (s *session) desired(deployment *unstructured.Unstructured) int64 {
	if s.Spec.Workers.Autoscaled() && deployment != nil {
		return number(deployment, "spec", "replicas")
	}
	return int64(s.Spec.Workers.Replicas)
}

// rollout reports a MachineDeployment that has not arrived at what is wanted of it.
func (s *session) rollout(d *unstructured.Unstructured, desired int64) *step.Obstacle {
	is := number(d, "status", "replicas")
	current := max(number(d, "status", "updatedReplicas"), number(d, "status", "upToDateReplicas"))
	switch {
	case number(d, "status", "observedGeneration") < d.GetGeneration():
		return reported("WaitingForWorkers", "Cluster API has not observed the current spec of the workers yet")
	case s.outdated() > 0:
		return reported(reasonRollingOut, "%d of %d workers are to be replaced%s", s.outdated(), len(s.machines), s.machineTrouble())
	case current < min(is, desired):
		return reported(reasonRollingOut, "%d of %d workers are as wanted now%s", current, desired, s.machineTrouble())
	case is != desired:
		return reported(reasonScaling, "there are %d workers, %d are wanted%s", is, desired, s.machineTrouble())
	}
	return nil
}

// machineTrouble is what the first machine without a node waits for, or why there is none.
func (s *session) machineTrouble() string {
	for i := range s.machines {
		m := &s.machines[i]
		if text(m, "status", "nodeRef", "name") != "" || m.GetDeletionTimestamp() != nil {
			continue
		}
		return "; machine " + m.GetName() + " is " + cmp.Or(text(m, "status", "phase"), "new") + s.troubleOf(m)
	}
	return s.setTrouble()
}

// waiting names the workers that are not Ready nodes.
func (s *session) waiting(desired int64) *step.Obstacle {
	var names []string
	ready := int64(0)
	for i := range s.machines {
		m := &s.machines[i]
		switch node := s.nodeOf(m); {
		case m.GetDeletionTimestamp() != nil:
		case node == "":
			names = append(names, fmt.Sprintf("machine %s has not joined: %s%s", m.GetName(), cmp.Or(text(m, "status", "phase"), "new"), s.troubleOf(m)))
		case s.whyNotReady(node) != "":
			names = append(names, "node "+node+" "+s.whyNotReady(node))
		default:
			ready++
		}
	}
	switch {
	case len(names) > 0:
		return reported("WaitingForWorkers", "%s", step.Listed(names))
	case ready < desired:
		return reported("WaitingForWorkers", "%d of %d workers are Ready", ready, desired)
	}
	return nil
}

// nodeOf is the name of the node of a machine, empty before it has joined.
func (s *session) nodeOf(m *unstructured.Unstructured) string {
	return text(m, "status", "nodeRef", "name")
}

func (s *session) whyNotReady(node string) string {
	for _, n := range s.nodes {
		if n.Name == node {
			return notReady(n)
		}
	}
	return "is gone"
}

// workerAddresses are those of the workers that have joined, in order.
func (s *session) workerAddresses() (out []string) {
	for i := range s.machines {
		if s.machines[i].GetDeletionTimestamp() == nil {
			if a := addressOf(&s.machines[i]); a != "" {
				out = append(out, a)
			}
		}
	}
	slices.Sort(out)
	return out
}

// addressOf is the address at which a machine is reached: an internal one before others, IPv4
// before IPv6.
func addressOf(m *unstructured.Unstructured) (best string) {
	all, _, _ := unstructured.NestedSlice(m.Object, "status", "addresses")
	for _, kind := range []string{"InternalIP", "ExternalIP"} {
		for _, each := range all {
			a, _ := each.(map[string]any)
			address, _ := a["address"].(string)
			parsed, err := netip.ParseAddr(address)
			if a["type"] != kind || err != nil || parsed.IsLinkLocalUnicast() {
				continue
			}
			if parsed.Is4() {
				return address
			}
			best = cmp.Or(best, address)
		}
		if best != "" {
			return best
		}
	}
	return best
}

// count writes what is known of the workers now. What is not known is not repeated.
func (s *session) count(ctx context.Context) {
	desired := s.Spec.Workers.Replicas
	if s.Spec.Workers.Autoscaled() && !s.kinds.deployment.Empty() {
		if d, err := s.read(ctx, s.kinds.deployment, s.key(tenant.Workers(s.Name))); err == nil && d != nil {
			desired = int32(s.desired(d))
		}
	}
	if !s.seen && s.Status.KubeconfigSecretRef != nil {
		if s.remote == nil {
			_, _ = s.dial(ctx)
		}
		if s.remote != nil {
			s.nodes, _ = s.remote.Nodes(ctx)
		}
	}
	workers := &v1alpha1.TenantWorkersStatus{Desired: desired}
	for _, n := range s.nodes {
		if notReady(n) == "" {
			workers.Ready++
		}
		workers.Nodes = append(workers.Nodes, n.Name)
	}
	slices.Sort(workers.Nodes)
	workers.Nodes = workers.Nodes[:min(len(workers.Nodes), 100)]
	s.Status.WorkerNodesDesired, s.Status.WorkerNodesReady = workers.Desired, workers.Ready
	s.observed().Workers = workers
}
