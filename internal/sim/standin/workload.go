// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import "maps"

// container of a workload.
type container struct {
	name  string
	image any
	args  any
	env   any
	// mounts are its volume mounts.
	mounts any
	port   int // 0 means none
	// security is its security context.
	security object
}

func (c container) object() object {
	o := object{
		"name": c.name, "image": c.image, "imagePullPolicy": "IfNotPresent",
		"resources": object{"requests": object{"cpu": "1m", "memory": "1Mi"}},
	}
	for key, v := range map[string]any{"args": c.args, "env": c.env, "volumeMounts": c.mounts} {
		if v != nil {
			o[key] = v
		}
	}
	if c.port > 0 {
		o["ports"] = []any{object{"containerPort": c.port, "protocol": "TCP"}}
	}
	if c.security != nil {
		o["securityContext"] = c.security
	}
	return o
}

// workload is a Deployment, DaemonSet or StatefulSet, or a Job.
type workload struct {
	kind, name string
	labels     map[string]string // of its pods
	account    any               // nil means one of the same name
	replicas   any               // nil means that the kind's default is left
	containers []container
	// node puts its pods on the node's network, everywhere on nodes with any
	// taint.
	node, everywhere bool
	priority         string
	more             object // of the pods' spec
}

func labels(key, value string, more ...string) map[string]string {
	out := map[string]string{key: value}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// recommended are the labels that most charts select their pods by.
func recommended(name, instance, component string) map[string]string {
	return labels("app.kubernetes.io/name", name, "app.kubernetes.io/instance", instance, "app.kubernetes.io/component", component)
}

func (w workload) object(r release, namespace any) object {
	spec := object{"selector": object{"matchLabels": w.labels}, "template": w.template(r)}
	if w.replicas != nil {
		spec["replicas"] = w.replicas
	}
	if w.kind == "StatefulSet" {
		spec["serviceName"] = w.name
		spec["podManagementPolicy"] = "Parallel"
	}
	return named("apps/v1", w.kind, namespace, w.name, object{"spec": spec})
}

// template of the pods, which say what addon they belong to.
func (w workload) template(r release) object {
	meta := object{"annotations": map[string]string{Addon: r.addon}}
	if w.labels != nil {
		meta["labels"] = w.labels
	}
	return object{"metadata": meta, "spec": w.pod()}
}

func (w workload) pod() object {
	spec := object{"serviceAccountName": w.account}
	if w.account == nil {
		spec["serviceAccountName"] = w.name
	}
	if w.node {
		spec["hostNetwork"] = true
	}
	if w.everywhere {
		spec["tolerations"] = []any{object{"operator": "Exists"}}
	}
	if w.priority != "" {
		spec["priorityClassName"] = w.priority
	}
	var all []any
	for _, c := range w.containers {
		all = append(all, c.object())
	}
	spec["containers"] = all
	maps.Copy(spec, w.more)
	return spec
}

// The deletion policies of hooks.
const (
	afterSuccess = "before-hook-creation,hook-succeeded"
	afterAll     = "before-hook-creation,hook-succeeded,hook-failed"
)

// hook is when a chart's object is made, and when it is removed.
type hook struct{ events, weight, deletion string }

func (h hook) on(o object) object {
	a := map[string]string{"helm.sh/hook": h.events}
	if h.weight != "" {
		a["helm.sh/hook-weight"] = h.weight
	}
	if h.deletion != "" {
		a["helm.sh/hook-delete-policy"] = h.deletion
	}
	return o.annotated(a)
}

// job runs the workload's containers once, at the time of a hook. A few failures
// are forgiven.
func (w workload) job(r release, name any, h hook) object {
	t := w.template(r)
	t["spec"].(object)["restartPolicy"] = "Never"
	return h.on(named("batch/v1", "Job", inRelease, name, object{"spec": object{"backoffLimit": 2, "template": t}}))
}
