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

	"github.com/butlerdotdev/butler/internal/sim/standin"
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

// controllerOf is the controller in an image, if it is one of this project, or one of Cluster
// API that a rehearsal runs.
func controllerOf(image string) (name string, ok bool) {
	image, _, _ = strings.Cut(image, "@")
	repository, name := path.Split(image)
	name, _, _ = strings.Cut(name, ":")
	switch {
	case name == "butler-controller" || name == "butler-bootstrap" || strings.HasPrefix(name, "butler-provider-"):
		return name, true
	case hasWebhooks(name):
		return name, true
	}
	name, ok = infrastructure()[repository+name]
	return name, ok
}

// hasWebhooks says whether a controller answers its own webhooks.
func hasWebhooks(name string) bool {
	return name == "cluster-api-controller" || name == "ipam-in-cluster"
}

// infrastructure has the programs that play infrastructure and IPAM providers of Cluster API,
// by their images.
func infrastructure() map[string]string {
	return map[string]string{
		"registry.k8s.io/cluster-api-aws/cluster-api-aws-controller":           "infrastructure-aws",
		"registry.k8s.io/cluster-api-gcp/cluster-api-gcp-controller":           "infrastructure-gcp",
		"registry.k8s.io/cluster-api-azure/cluster-api-azure-controller":       "infrastructure-azure",
		"ghcr.io/nutanix-cloud-native/cluster-api-provider-nutanix/controller": "infrastructure-nutanix",
		"ghcr.io/ionos-cloud/cluster-api-provider-proxmox":                     "infrastructure-proxmox",
		"ghcr.io/rancher-sandbox/cluster-api-provider-harvester":               "infrastructure-harvester",
		"quay.io/capk/capk-manager":                                            "infrastructure-kubevirt",
		"registry.k8s.io/capi-ipam-ic/cluster-api-ipam-in-cluster-controller":  "ipam-in-cluster",
	}
}

// of are the containers of a pod that run for real. Those of Cluster API are of one release and
// need its definitions, which stand-ins bring along, and components of other releases do not.
func (c Controllers) of(pod *corev1.Pod) (containers []corev1.Container) {
	if len(c.Command) == 0 {
		return nil
	}
	_, standIn := pod.Annotations[standin.Addon]
	return slices.DeleteFunc(slices.Clone(pod.Spec.Containers), func(c corev1.Container) bool {
		name, ok := controllerOf(c.Image)
		return !ok || !standIn && !strings.HasPrefix(name, "butler-")
	})
}

// programs are the states of the controllers that run. The zero value has none.
type programs struct {
	mu     sync.Mutex
	states map[types.UID]map[string]podState // by pod and container
	hooks  map[types.UID]string              // where the webhooks of pods answer, without TLS
}

// setHooks records where the webhooks of a pod answer.
func (p *programs) setHooks(pod types.UID, address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hooks == nil {
		p.hooks = map[types.UID]string{}
	}
	p.hooks[pod] = address
}

// hooksOf is empty for a pod whose program has none.
func (p *programs) hooksOf(pod types.UID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hooks[pod]
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
	delete(p.hooks, pod)
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
