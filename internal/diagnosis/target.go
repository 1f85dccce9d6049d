// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import "strings"

// kinds are the kinds that can be named, with their short names, and how each is explained.
func kinds() map[string]func(*walk, string) (found bool) {
	requests := func(kind string) func(*walk, string) bool {
		return func(w *walk, name string) bool { return w.oneRequest(kind, name) }
	}
	return map[string]func(*walk, string) bool{
		"machinerequest": requests(kindMachine), "machine": requests(kindMachine), "mr": requests(kindMachine), "node": (*walk).oneNode,
		"loadbalancerrequest": requests(kindLoadBalancer), "lbr": requests(kindLoadBalancer),
		"ipallocation": requests("IPAllocation"), "networkpool": requests("NetworkPool"),
		"addon": (*walk).oneAddon, "tenantcluster": (*walk).oneTenant, "tenant": (*walk).oneTenant, "tc": (*walk).oneTenant,
	}
}

// Kinds are the kinds that ExplainObject knows.
func Kinds() []string {
	return []string{"machinerequest", "loadbalancerrequest", "ipallocation", "networkpool", "node", "addon", "tenantcluster"}
}

// ExplainObject returns the chain of one object, or false if the facts do not have it.
func ExplainObject(f Facts, kind, name string) (Chain, bool) {
	explain, known := kinds()[strings.ToLower(kind)]
	w := &walk{Facts: f, chain: Chain{Cluster: f.Cluster}}
	if !known || !explain(w, name) {
		return Chain{}, false
	}
	if w.chain.Cause == "" {
		w.chain.Healthy, w.chain.Summary = true, kind+"/"+name+" is as it should be"
	}
	return w.chain, true
}

// KnownKind reports whether ExplainObject knows a kind.
func KnownKind(kind string) bool {
	_, known := kinds()[strings.ToLower(kind)]
	return known
}

func (w *walk) oneRequest(kind, name string) bool {
	for _, o := range w.Requests {
		if o.Kind != kind || o.Name != name {
			continue
		}
		w.Requests = []Object{o}
		if !w.atKind(kind, "") {
			w.linkTo(o)
			w.oneNode(name)
		}
		return true
	}
	return false
}

func (w *walk) oneNode(name string) bool {
	n, found := w.nodeOf(name)
	if !found {
		return false
	}
	w.Nodes, w.API, w.Contested = []Node{n}, API{}, ""
	if !w.atNodes() {
		w.linkNode(n)
	}
	return true
}

func (w *walk) oneAddon(name string) bool {
	for _, a := range w.Addons {
		if a.Name != name {
			continue
		}
		if !w.addon(a) {
			w.link(Link{Object: "Addon/" + a.Name, State: string(a.Phase), Says: a.Message})
			w.ongoing(a.Message)
		}
		return true
	}
	return false
}

// ongoing ends the chain of an addon that is not ready, and reports no error.
func (w *walk) ongoing(message string) {
	if message != "" {
		w.end(InProgress, "nothing reports an error; it waits: "+message, Remedy{"watch it", w.Commands.Status + " --watch"})
	}
}

func (w *walk) oneTenant(name string) bool {
	for _, t := range w.Tenants {
		if t.Name != name && t.Namespace+"/"+t.Name != name {
			continue
		}
		if !t.troubled() {
			w.linkTo(t.Object)
			return true
		}
		return w.tenant(t)
	}
	return false
}
