// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Controllers says how containers with an image of this project are run: for real, as
// processes of this machine.
type Controllers struct {
	// Command is what runs a controller, followed by its name and its arguments. Its
	// standard input ends with this process, and it is to end with that. Without a
	// command the containers run nothing.
	Command []string
	Dir     string // for their output and credentials
}

// The back-off of a controller that ends is shorter than a kubelet's.
const (
	firstBackOff = time.Second
	lastBackOff  = 30 * time.Second
)

// controllerOf is the controller in an image, if it is one of this project.
func controllerOf(image string) (name string, ok bool) {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ = strings.Cut(path.Base(image), ":")
	return name, name == "butler-controller" || name == "butler-bootstrap" || strings.HasPrefix(name, "butler-provider-")
}

// of are the containers of a pod that run for real.
func (c Controllers) of(pod *corev1.Pod) (containers []corev1.Container) {
	if len(c.Command) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(pod.Spec.Containers), func(c corev1.Container) bool {
		_, ok := controllerOf(c.Image)
		return !ok
	})
}

// programs are the states of the controllers that run. The zero value has none.
type programs struct {
	mu     sync.Mutex
	states map[types.UID]map[string]podState // by pod and container
}

// judge is the state of a pod that is ready as far as these controllers are. One that
// was not started is not.
func (p *programs) judge(pod *corev1.Pod, controllers []corev1.Container) podState {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range controllers {
		state, started := p.states[pod.UID][c.Name]
		if !started {
			return podState{phase: corev1.PodRunning}
		}
		if !state.ready {
			return state
		}
	}
	return podState{phase: corev1.PodRunning, ready: true}
}

func (p *programs) set(pod types.UID, container string, state podState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.states == nil {
		p.states = map[types.UID]map[string]podState{}
	}
	if p.states[pod] == nil {
		p.states[pod] = map[string]podState{}
	}
	p.states[pod][container] = state
}

func (p *programs) forget(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.states, pod)
}

// runControllers runs those of a pod until ctx ends; done is closed when they have
// ended.
func (k *Kubelet) runControllers(ctx context.Context, pod *corev1.Pod) (done <-chan struct{}) {
	var group sync.WaitGroup
	for _, c := range k.Controllers.of(pod) {
		p := &process{kubelet: k, pod: pod, container: c, dir: filepath.Join(k.Controllers.Dir, pod.Namespace+"_"+pod.Name+"_"+string(pod.UID))}
		group.Go(func() { p.keep(ctx) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		group.Wait()
		k.programs.forget(pod.UID)
	}()
	return ended
}

// process is a controller that runs for real.
type process struct {
	kubelet   *Kubelet
	pod       *corev1.Pod
	container corev1.Container
	dir       string
}

func (p *process) name() string {
	name, _ := controllerOf(p.container.Image)
	return name
}

func (p *process) report(state podState) {
	p.kubelet.programs.set(p.pod.UID, p.container.Name, state)
	p.kubelet.wake(keyOf(p.pod))
}

// keep starts the controller again, with back-off, whenever it has ended.
func (p *process) keep(ctx context.Context) {
	backOff := firstBackOff
	for ctx.Err() == nil {
		wasReady, err := p.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if wasReady {
			backOff = firstBackOff
		}
		p.kubelet.Log.Warn("controller ended", "node", p.kubelet.Node.Name, "pod", keyOf(p.pod), "error", err)
		p.report(crashed(fmt.Sprintf("back-off before %s starts again: %v", p.name(), err)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(backOff):
		}
		backOff = min(2*backOff, lastBackOff)
		p.report(podState{phase: corev1.PodRunning})
	}
}
