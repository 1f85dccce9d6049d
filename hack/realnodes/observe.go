// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/hack/butleradm"
	"github.com/butlerdotdev/butler/internal/manifest"
)

const (
	worker = cluster + "-w-0"
	// interval is how often the cluster is looked at.
	interval = time.Second
	// limit is how long the cluster has for one change.
	limit = 10 * time.Minute
)

// state is what was last seen of the cluster.
type state struct {
	nodes   []corev1.Node
	pods    []corev1.Pod // of this project
	cluster *v1alpha1.ClusterBootstrap
}

func (s state) node(name string) *corev1.Node {
	for i := range s.nodes {
		if s.nodes[i].Name == name {
			return &s.nodes[i]
		}
	}
	return &corev1.Node{}
}

// placement lists the pods with their nodes, a line for each.
func (s state) placement() string {
	var out strings.Builder
	for _, p := range s.pods {
		fmt.Fprintf(&out, "pod %s at %s on %s\n", p.Name, p.Status.PodIP, p.Spec.NodeName)
	}
	return out.String()
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// selfManaged returns what is missing until a cluster manages itself by pods that are ready.
func selfManaged(s state) error {
	if s.cluster == nil || s.cluster.Annotations[v1alpha1.AnnotationPlane] != v1alpha1.PlaneSelf {
		return errors.New("the cluster does not manage itself")
	}
	if !meta.IsStatusConditionTrue(s.cluster.Status.Conditions, v1alpha1.ConditionReady) {
		return errors.New("the ClusterBootstrap is not Ready")
	}
	if len(s.pods) == 0 {
		return errors.New("the cluster has no pods of this project")
	}
	for _, p := range s.pods {
		if !podReady(p) {
			return fmt.Errorf("pod %s is not ready", p.Name)
		}
	}
	return nil
}

func podReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// observed follows a cluster from the moment that it has a kubeconfig, and its nodes with the
// routes of their pods.
type observed struct {
	stop  context.CancelFunc
	ended chan struct{}

	lock   sync.Mutex
	last   state
	reason error // that it could not be looked at
}

func observe(ctx context.Context, cli *butleradm.CLI, n *podNetwork) *observed {
	ctx, stop := context.WithCancel(ctx)
	o := &observed{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(o.ended)
		var api client.Client
		for tick := time.NewTicker(interval); ; {
			var s state
			var err error
			if api == nil {
				api, err = connect(ctx, cli)
			}
			if err == nil {
				s, err = look(ctx, api, n)
			}
			o.set(s, err)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return o
}

// close ends the observation, and returns when it has ended: no route is added after that.
func (o *observed) close() {
	o.stop()
	<-o.ended
}

func (o *observed) set(s state, err error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.reason = err; err == nil {
		o.last = s
	}
}

func (o *observed) get() (state, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.last, o.reason
}

// await returns when a check of the cluster has no objection any more.
func (o *observed) await(ctx context.Context, what string, check func(state) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for tick := time.NewTicker(interval); ; {
		s, err := o.get()
		if err == nil {
			err = check(s)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it was waited %s until %s: %w", limit, what, err)
		case <-tick.C:
		}
	}
}

func connect(ctx context.Context, cli *butleradm.CLI) (client.Client, error) {
	cmd := cli.Command(ctx, "kubeconfig", cluster)
	cmd.Stdout, cmd.Stderr = nil, nil
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the cluster has no kubeconfig yet: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// look reads the state of the cluster. The nodes get their routes first: pods need them to
// become ready.
func look(ctx context.Context, api client.Client, n *podNetwork) (state, error) {
	var nodes corev1.NodeList
	if err := api.List(ctx, &nodes); err != nil {
		return state{}, err
	}
	if err := n.Follow(ctx, nodes.Items); err != nil {
		return state{}, err
	}
	var pods corev1.PodList
	if err := api.List(ctx, &pods, client.InNamespace(manifest.Namespace), client.MatchingLabels{"app.kubernetes.io/part-of": "butler"}); err != nil {
		return state{}, err
	}
	var clusters v1alpha1.ClusterBootstrapList
	if err := api.List(ctx, &clusters, client.InNamespace(manifest.Namespace)); err != nil {
		return state{}, err
	}
	s := state{nodes: nodes.Items, pods: pods.Items}
	if len(clusters.Items) == 1 {
		s.cluster = &clusters.Items[0]
	}
	return s, nil
}
