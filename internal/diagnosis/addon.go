// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// atAddons follows the addon that others wait for: one that fails, else one that is not
// ready. One that only waits for others is never the cause.
func (w *walk) atAddons() bool {
	for _, phase := range []v1alpha1.AddonPhase{v1alpha1.AddonFailing, v1alpha1.AddonWaiting} {
		for _, a := range w.Addons {
			if a.Phase == phase && w.addon(a) {
				return true
			}
		}
	}
	return false
}

func (w *walk) addon(a v1alpha1.BootstrapAddonStatus) bool {
	before := len(w.chain.Links)
	w.link(Link{Object: "Addon/" + a.Name, State: string(a.Phase), Reason: a.Reason, Says: a.Message})
	failing := map[string]Cause{
		v1alpha1.AddonFetchFailed: ChartUnavailable, v1alpha1.AddonWebhookRefused: WebhookRefuses, v1alpha1.AddonHookFailed: HookFails,
	}
	switch c, known := failing[a.Reason]; {
	case c == HookFails || c == WebhookRefuses:
		w.linkPod(a.Message)
		return w.end(c, "addon "+a.Name+": "+a.Message, remedy(c, ""))
	case known:
		return w.end(c, "addon "+a.Name+": "+a.Message, remedy(c, ""))
	case a.Phase == v1alpha1.AddonFailing:
		return w.end(AddonNotReady, "addon "+a.Name+": "+a.Message, remedy(AddonNotReady, a.Message))
	}
	if p, found := w.podOf(a.Message); found {
		return w.pod(p)
	}
	w.chain.Links = w.chain.Links[:before]
	return false
}

// workload finds the objects that the message of an addon names.
var workload = regexp.MustCompile(`(Deployment|DaemonSet|StatefulSet|Job|Pod) ([^/\s]+)/([^:\s]+)`)

// podOf returns the pod of a workload that a message names.
func (w *walk) podOf(message string) (Pod, bool) {
	for _, named := range workload.FindAllStringSubmatch(message, -1) {
		for _, p := range w.Pods {
			if p.Namespace == named[2] && (p.Name == named[3] || strings.HasPrefix(p.Name, named[3]+"-")) {
				return p, true
			}
		}
	}
	return Pod{}, false
}

func (w *walk) linkPod(message string) {
	if p, found := w.podOf(message); found {
		w.link(w.podLink(p))
	}
}

func (w *walk) podLink(p Pod) Link {
	id := "Pod/" + p.Namespace + "/" + p.Name
	return Link{Object: id, Reason: p.Reason, Says: p.Message, Evidence: w.warnings(id, p.Message)}
}

// pod explains a pod that is not ready.
func (w *walk) pod(p Pod) bool {
	w.link(w.podLink(p))
	name := p.Namespace + "/" + p.Name
	logs := "kubectl --namespace " + p.Namespace + " logs " + p.Name
	switch p.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		return w.end(ImagePull, "an image of pod "+name+" cannot be pulled: "+p.Message, remedy(ImagePull, ""))
	case "Unschedulable":
		return w.endUnless(w.proceeds(), PodUnschedulable, "no node takes pod "+name+": "+p.Message, remedy(PodUnschedulable, ""))
	case "CrashLoopBackOff", "Error", "OOMKilled":
		return w.end(PodCrashes, "a container of pod "+name+" keeps crashing: "+p.Message, Remedy{remedies()[PodCrashes], logs})
	}
	if n, found := w.nodeOf(p.Node); found && n.NotReady != "" {
		w.linkNode(n)
		return w.endUnless(w.proceeds(), NodeNotReady, "node "+n.Name+" "+n.NotReady, remedy(NodeNotReady, ""))
	}
	return w.endUnless(w.proceeds(), AddonNotReady, "pod "+name+" is not ready: "+p.Message, Remedy{remedies()[PodCrashes], logs})
}

func (w *walk) nodeOf(name string) (Node, bool) {
	for _, n := range w.Nodes {
		if n.Name == name {
			return n, true
		}
	}
	return Node{}, false
}
