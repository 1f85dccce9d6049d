// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atNodes explains what the machines themselves say: Talos first, then Kubernetes.
func (w *walk) atNodes() bool {
	return w.conflictingAddress() || w.withoutTime() || w.unreachable() || w.badService() || w.silentAPI() || w.notReadyNode()
}

// atReadyNodes explains nodes of a cluster whose conditions say that it is Ready: they may be
// older than the trouble, as after the pivot or while no controller runs.
func (w *walk) atReadyNodes() bool {
	w.linkTo(*w.Bootstrap)
	if w.atNodes() {
		return true
	}
	w.chain.Links = nil
	return false
}

// unreachable explains machines that run and whose Talos API does not answer.
func (w *walk) unreachable() bool {
	var silent []Node
	asked := 0
	for _, n := range w.Nodes {
		if n.Talos == "" || w.boots(n) {
			continue
		}
		asked++
		if n.Foreign {
			w.linkNode(n)
			return w.end(ForeignNode, fmt.Sprintf("%s (%s) does not belong to this cluster", n.Name, n.Address), remedy(ForeignNode, ""))
		}
		if n.Silent {
			silent = append(silent, n)
		}
	}
	switch {
	case len(silent) == 0:
		return false
	case len(silent) == asked && strings.Contains(silent[0].Error, "no answer in time"):
		w.linkNode(silent[0])
		return w.end(NoRoute, fmt.Sprintf("the platform reports %d running machine(s), and none answers from here", asked), remedy(NoRoute, ""))
	}
	w.linkNode(silent[0])
	return w.end(NodeUnreachable, fmt.Sprintf("%s (%s) runs on the platform, and its Talos API does not answer", silent[0].Name, silent[0].Address), remedy(NodeUnreachable, ""))
}

// bootTime is how long a machine may take until its Talos API answers.
const bootTime = time.Minute

// boots reports whether a machine has run too briefly to answer.
func (w *walk) boots(n Node) bool {
	for _, o := range w.Requests {
		if c := o.Ready(); o.Kind == kindMachine && o.Name == n.Name {
			return c.Status == metav1.ConditionTrue && w.Time.Sub(c.LastTransitionTime.Time) < bootTime
		}
	}
	return false
}

// badService explains a service of Talos that does not run. Those that others wait for
// come first.
func (w *walk) badService() bool {
	for _, id := range []string{"containerd", "cri", "etcd", "kubelet", "trustd", "apid", "machined", ""} {
		for _, n := range w.Nodes {
			for _, s := range n.Services {
				if id != "" && s.ID != id {
					continue
				}
				return w.service(n, s)
			}
		}
	}
	return false
}

// withoutTime explains a service that waits for the time or the network of its machine: it is
// well itself, and so is a machine that does not answer because of that.
func (w *walk) withoutTime() bool {
	for _, n := range w.Nodes {
		for _, s := range n.Services {
			if strings.HasSuffix(s.Message, "time sync") || strings.HasSuffix(s.Message, "for network") {
				summary := w.linkService(n, s)
				return w.endUnless(w.proceeds(), NoRoute, summary, Remedy{Do: "check the gateway of the machines, and that they reach a time server (UDP 123)"})
			}
		}
	}
	return false
}

// linkService adds a service of a node, and returns a sentence about it.
func (w *walk) linkService(n Node, s Service) string {
	w.linkNode(n)
	w.link(Link{Object: "Service/" + s.ID, State: s.State, Says: s.Message})
	return fmt.Sprintf("service %s of %s is %s: %s", s.ID, n.Name, s.State, s.Message)
}

func (w *walk) service(n Node, s Service) bool {
	summary := w.linkService(n, s)
	return w.endUnless(s.State != serviceFailed && w.proceeds(), ServiceDown, summary,
		Remedy{remedies()[ServiceDown], fmt.Sprintf("talosctl --nodes %s logs %s", n.Address, s.ID)})
}

// serviceFailed is the state of a service that Talos starts again and again.
const serviceFailed = "Failed"

// silentAPI explains an API server that does not answer on nodes that do.
func (w *walk) silentAPI() bool {
	if !w.API.Asked || w.API.Error == "" {
		return false
	}
	w.link(Link{Object: "Kubernetes/" + w.Cluster, State: "no answer", Says: w.API.Error})
	return w.end(APIServerDown, "the nodes answer, and the API server of "+w.Cluster+" does not: "+w.API.Error, remedy(APIServerDown, ""))
}

// notReadyNode explains a node whose kubelet reports a problem. Without a pod network that is
// the addon of the network.
func (w *walk) notReadyNode() bool {
	for _, n := range w.Nodes {
		if n.NotReady == "" {
			continue
		}
		if strings.Contains(n.NotReady, "network") && w.atAddons() {
			return true
		}
		w.linkNode(n)
		return w.endUnless(w.proceeds(), NodeNotReady, "node "+n.Name+" "+n.NotReady, Remedy{remedies()[NodeNotReady], "talosctl --nodes " + n.Address + " logs kubelet"})
	}
	return false
}

func (w *walk) linkNode(n Node) {
	says := n.Error
	if says == "" {
		says = n.NotReady
	}
	w.link(Link{Object: "Node/" + n.Name, State: n.Talos, Says: says})
}

// conflictingAddress explains an address that two hosts have.
func (w *walk) conflictingAddress() bool {
	if w.Contested != "" {
		w.link(Link{Object: "Address/" + w.Contested, State: "in use", Says: "connections to TCP 6443 are refused there, and accepted at the control planes' own addresses"})
		return w.end(AddressInUse, "another host has "+w.Contested+", the common address of the control planes", remedy(AddressInUse, ""))
	}
	c := w.Bootstrap
	if c == nil || c.Ready().Reason != string(AddressInUse) {
		return false
	}
	return w.end(AddressInUse, c.Ready().Message, remedy(AddressInUse, ""))
}
