// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package passthrough plays the programs that pass TLS on to Services of a cluster by the name
// that clients ask for: Cilium as a controller of Gateways, Traefik and ingress-nginx.
package passthrough

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	// lag makes one pass of what changes at about the same time, and retry is the pause after an
	// error.
	lag   = 50 * time.Millisecond
	retry = time.Second
)

// Options are the environment of the programs.
type Options struct {
	Network *network.Network
	Log     *slog.Logger
}

// program is one of the programs.
type program interface {
	// kinds are those that it watches.
	kinds() []schema.GroupVersionResource
	// pass writes what it writes into the cluster, and returns where it passes connections on.
	pass(context.Context, client.Client) (table, error)
	// terminates reports whether it answers clients of other names itself.
	terminates() bool
}

// Run plays the program of a pod, with access to its cluster, until ctx ends; it returns false at
// once if it plays none. Of several pods of a program, one has its addresses.
func (o Options) Run(ctx context.Context, pod *corev1.Pod, config *rest.Config) (bool, error) {
	p := programOf(pod)
	if p == nil {
		return false, nil
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return true, err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return true, err
	}
	return true, o.follow(ctx, p, c, objects)
}

// Plays reports whether a pod is one of a program.
func Plays(pod *corev1.Pod) bool { return programOf(pod) != nil }

func programOf(pod *corev1.Pod) program {
	for _, c := range pod.Spec.Containers {
		image, _, _ := strings.Cut(c.Image, "@")
		if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
			image = image[:i]
		}
		switch {
		case strings.HasSuffix(image, "/cilium/operator-generic"):
			return cilium{namespace: pod.Namespace}
		case strings.HasSuffix(image, "/traefik") && slices.Contains(c.Args, "--providers.kubernetescrd"):
			return traefik{pod: pod}
		case strings.HasSuffix(image, "/ingress-nginx/controller"):
			return nginx{pod: pod, passes: slices.Contains(c.Args, "--enable-ssl-passthrough=true")}
		}
	}
	return nil
}

// follow makes a pass whenever something has changed.
func (o Options) follow(ctx context.Context, p program, c client.Client, objects dynamic.Interface) error {
	changed := make(chan struct{}, 1)
	signal := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
	for _, kind := range p.kinds() {
		informer := factory.ForResource(kind).Informer()
		_ = informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}) // a kind may be defined later
		handler := cache.ResourceEventHandlerFuncs{AddFunc: signal, UpdateFunc: func(_, now any) { signal(now) }, DeleteFunc: signal}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	s := newSwitchboard(ctx, o, p.terminates())
	for failed := false; ; {
		var again <-chan time.Time
		if failed {
			again = time.After(retry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-again:
		}
		if !pause(ctx, lag) {
			return nil
		}
		t, err := p.pass(ctx, c)
		if failed = err != nil; !failed {
			s.set(t)
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
