// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"maps"
	"slices"
	"strings"
)

const (
	coreRepository = "kubernetes-sigs/cluster-api"
	providerLabel  = "cluster.x-k8s.io/provider"
)

// provider of Cluster API. A ${VARIABLE} is replaced when it is installed.
type provider struct {
	repository, file string
	label            string // by which clusterctl knows its objects
	prefix           string // of its objects' names
	namespace        string // empty means the prefix and -system
	image            string
	arguments        []any
	definitions      []definition
	// validates and mutates are the plurals that its webhooks are asked about.
	validates, mutates []string
	deletions          bool    // it validates those too
	secret             *secret // nil means none
	// beside are the images of further Deployments, by name.
	beside map[string]string
	// annotations of its pods.
	annotations map[string]string
	// rules are the rights of its account in all namespaces; none means that its program
	// does not run in a rehearsal.
	rules []any
	// carried is the name of its definitions in config/clusterapi, and releases those that
	// represent others; empty: its objects are not checked.
	carried  string
	releases []string
}

// secret is one that is filled with variables.
type secret struct {
	name    string
	encoded bool // the variables come in base64
	data    map[string]string
}

func (p provider) home() string {
	if p.namespace != "" {
		return p.namespace
	}
	return p.prefix + "-system"
}

func (p provider) parts(r release) []part {
	objects := slices.Concat(
		[]object{named("v1", "Namespace", nil, p.home(), nil)},
		p.defined(r), accounts(p.home(), p.account()), p.access(), p.secrets(), p.deployments(r), p.webhooks())
	for _, o := range objects {
		all, _ := o.meta()["labels"].(map[string]string)
		all = maps.Clone(all)
		if all == nil {
			all = map[string]string{}
		}
		all[providerLabel] = p.label
		o.labelled(all)
	}
	return always(objects...)
}

// defined are the definitions, which say what contract they keep in which of
// their versions. Those of Cluster API itself change with the contract.
func (p provider) defined(r release) []object {
	kept, released := contract(p.repository, r.version), p.real(r.version)
	var out []definition
	for _, d := range p.definitions {
		d.labels = map[string]string{"cluster.x-k8s.io/" + kept: d.versions[0]}
		d = p.checked(d, released[d.name])
		out = append(out, d)
	}
	return definitions(append(out, p.further(out, released)...))
}

func (p provider) account() string { return p.prefix + "-manager" }

func (p provider) labels() map[string]string {
	return labels(providerLabel, p.label, "control-plane", "controller-manager")
}

func (p provider) deployments(r release) []object {
	controller := workload{
		kind: "Deployment", name: p.prefix + "-controller-manager", labels: p.labels(), account: p.account(), replicas: 1,
		containers: []container{{name: "manager", image: p.image + ":" + r.tag(), port: 9443, args: append([]any{"--leader-elect"}, p.arguments...)}},
		more:       object{"tolerations": []any{object{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}}},
	}
	first := controller.object(r, p.home())
	template := first["spec"].(object)["template"].(object)["metadata"].(object)
	maps.Copy(template["annotations"].(map[string]string), p.annotations)
	out := []object{first}
	for _, name := range slices.Sorted(maps.Keys(p.beside)) {
		out = append(out, workload{
			kind: "Deployment", name: name, labels: labels("control-plane", name), account: p.account(), replicas: 1,
			containers: []container{{name: "manager", image: p.beside[name]}},
		}.object(r, p.home()))
	}
	return out
}

func (p provider) secrets() []object {
	if p.secret == nil {
		return nil
	}
	field := "stringData"
	if p.secret.encoded {
		field = "data"
	}
	return []object{named("v1", "Secret", p.home(), p.secret.name, object{"type": "Opaque", field: p.secret.data})}
}

// webhooks are answered by the controller, under a certificate of cert-manager.
func (p provider) webhooks() []object {
	at, certificate := p.prefix+"-webhook-service", p.prefix+"-serving-cert"
	var out []object
	for _, w := range []struct {
		kind, word string
		plurals    []string
	}{{validating, "validat", p.validates}, {mutating, "mutat", p.mutates}} {
		if len(w.plurals) == 0 {
			continue
		}
		config := webhooks{kind: w.kind, name: p.prefix + "-" + w.word + "ing-webhook-configuration", service: at, injected: certificate}
		for _, plural := range w.plurals {
			config.rules = append(config.rules, p.rule(w.word, plural))
		}
		out = append(out, config.object(p.home()))
	}
	if len(out) == 0 {
		return nil
	}
	out = append(out, service{name: at, port: 443, target: 9443, labels: p.labels()}.object(p.home()))
	return append(out, serving(p.home(), p.prefix+"-selfsigned-issuer", certificate, p.prefix+"-webhook-service-cert", at)...)
}

func (p provider) rule(word, plural string) rule {
	i := slices.IndexFunc(p.definitions, func(d definition) bool { return strings.HasPrefix(d.name, plural+".") })
	d := p.definitions[i]
	_, group, _ := strings.Cut(d.name, ".")
	out := rule{
		name: word + "ion." + plural + "." + group, path: "/" + word + "e-" + strings.ReplaceAll(group, ".", "-") + "-" + strings.ToLower(d.kind),
		group: group, versions: d.versions, resources: []string{plural},
	}
	if p.deletions && word == "validat" {
		out.operations = []string{"CREATE", "UPDATE", "DELETE"}
	}
	if p.repository == coreRepository && group == coreGroup {
		out.path = "/" + word + "e-cluster-x-k8s-io-" + newestCore + "-" + strings.ToLower(d.kind)
		out.versions = []string{newestCore}
	}
	return out
}
