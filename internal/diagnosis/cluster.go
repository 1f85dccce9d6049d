// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// atBootstrap follows the obstacle of the ClusterBootstrap.
func (w *walk) atBootstrap() bool {
	o := *w.Bootstrap
	obstacle := o.Ready()
	if obstacle.Status == metav1.ConditionTrue && !o.Deleting {
		return false
	}
	w.linkTo(o)
	if obstacle.Type == "" {
		return w.atControllers() || w.end(InProgress, "no controller has looked at the ClusterBootstrap yet", Remedy{"wait a moment", w.Commands.Status})
	}
	if w.stoppedSimulator() || w.conflictingAddress() || w.behind(obstacle) || w.atPlatform() {
		return true
	}
	return w.itself(obstacle)
}

// behind follows an obstacle to the objects that it is about.
func (w *walk) behind(obstacle metav1.Condition) bool {
	switch obstacle.Reason {
	case "AddonFailing", "WaitingForAddons", "InstallingKubeVIP":
		return w.atAddons() || w.atTrouble() || w.atNodes()
	case "WaitingForLoadBalancer", "WaitingForTargets":
		return w.atKind("LoadBalancerRequest", obstacle.Message) || w.atTrouble() || w.atNodes()
	case "WaitingForAddresses", "AddressInUse":
		return w.atKind("IPAllocation", obstacle.Message) || w.atKind("NetworkPool", obstacle.Message)
	case "WaitingForNodes":
		return w.atTrouble() || w.atPlatform() || w.atNodes() || w.atAddons()
	}
	return w.atTrouble() || w.atPlatform() || w.atNodes()
}

// itself ends the chain with the obstacle of the ClusterBootstrap.
func (w *walk) itself(obstacle metav1.Condition) bool {
	failed := w.Bootstrap.condition(v1alpha1.ConditionFailed).Status == metav1.ConditionTrue
	if !failed && (strings.HasPrefix(obstacle.Reason, "WaitingFor") || slices.Contains(passing(), obstacle.Reason)) {
		return w.atControllers() || w.end(InProgress, "nothing reports an error; it waits: "+obstacle.Message, Remedy{"watch it", w.Commands.Status + " --watch"})
	}
	if !failed && w.atControllers() {
		return true
	}
	c := causeOf(obstacle.Reason)
	return w.end(c, obstacle.Message, remedy(c, obstacle.Message))
}

// passing are the reasons of steps that only take their time, besides those that wait for
// something.
func passing() []string {
	return []string{"EtcdStarts", "HandingOver", "InstallingKubeVIP", "ReadyToPivot"}
}

// atPlatform explains a ProviderConfig that cannot be used.
func (w *walk) atPlatform() bool {
	p := w.Platform
	if p == nil || len(p.Conditions) == 0 || p.isReady() {
		return false
	}
	w.linkTo(p.Object)
	return w.byReason(p.Ready())
}

// byReason ends the chain with the cause that a condition has the reason for.
func (w *walk) byReason(ready metav1.Condition) bool {
	c := causeOf(ready.Reason)
	first := remedy(c, ready.Message)
	if c == "CredentialsRefused" && w.Platform != nil && w.Platform.Secret != "" {
		first.Do = fmt.Sprintf("put valid credentials into Secret %s; they are tried as soon as it changes", w.Platform.Secret)
	}
	return w.end(c, ready.Message, first)
}

// atOrphans explains what the platform holds beside the cluster.
func (w *walk) atOrphans() bool {
	p := w.Platform
	switch {
	case p == nil:
	case len(p.Copies) > 0:
		w.link(Link{Object: p.ID(), State: "Ready", Says: "copies on the platform: " + strings.Join(p.Copies, ", ")})
		return w.end(CopyOnPlatform, "the platform has a copy of a machine, created by its own clone or restore", remedy(CopyOnPlatform, ""))
	case len(p.Orphans) > 0:
		w.link(Link{Object: p.ID(), State: "Ready", Says: "on the platform without a request: " + strings.Join(p.Orphans, ", ")})
		return w.end(Orphans, "the platform has objects of the cluster that no request owns", Remedy{Do: "see docs/concepts/ownership.md for when they are deleted; delete them on the platform if they are not wanted"})
	}
	return false
}

// notice adds what should be known besides the cause.
func (w *walk) notice() {
	p := w.Platform
	if p == nil {
		return
	}
	if len(p.Copies) > 0 && w.chain.Cause != CopyOnPlatform {
		w.chain.Notices = append(w.chain.Notices, "copies on the platform: "+strings.Join(p.Copies, ", "))
	}
	if len(p.Orphans) > 0 && w.chain.Cause != Orphans {
		w.chain.Notices = append(w.chain.Notices, "on the platform without a request: "+strings.Join(p.Orphans, ", "))
	}
	if p.Expires != nil {
		w.chain.Notices = append(w.chain.Notices, "the platform's credentials expire at "+p.Expires.UTC().Format("2006-01-02 15:04")+" UTC")
	}
}
