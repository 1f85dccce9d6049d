// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	// annotationReplacing on a ClusterBootstrap names the machine that is being
	// replaced, since when, and whether that was requested. It is written before
	// anything is deleted, and removed when the new node is Ready: a walk that finds it
	// continues the replacement.
	annotationReplacing = v1alpha1.AnnotationReplacing
	// annotationReplacement on a MachineRequest repeats it: this is the new one.
	annotationReplacement = v1alpha1.AnnotationReplacement

	// replacePatience is how long a new machine has to become Ready before it may be
	// replaced itself: if it is lost, or if that is requested again.
	replacePatience = 10 * time.Minute

	reasonMachineLost = "MachineLost"
	reasonReplacing   = "ReplacingMachine"
	reasonReplaced    = "MachineReplaced"
	reasonRefused     = "ReplacementRefused"
)

// Event is something that happened, for people.
type Event struct{ Type, Reason, Message string }

// requested ends the mark of a replacement on request. The request is removed when the
// mark is written, so that one for the same machine is a new request.
const requested = " on request"

// replacing is which machine is being replaced, and since when, if one is.
func (s *Session) replacing() (name string, begun time.Time) {
	name, at, _ := strings.Cut(strings.TrimSuffix(s.Annotations[annotationReplacing], requested), " ")
	begun, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return "", time.Time{}
	}
	return name, begun
}

func (s *Session) replaced() string {
	name, _ := s.replacing()
	return name
}

// asked is the machine whose replacement is requested, if any.
func (s *Session) asked() string { return s.Annotations[v1alpha1.AnnotationReplace] }

// isReplacement reports whether a request is the new one, not the one to delete.
func (s *Session) isReplacement(r *v1alpha1.MachineRequest) bool {
	return r != nil && s.replaced() == r.Name && r.Annotations[annotationReplacement] == s.Annotations[annotationReplacing]
}

// blank is a machine of which nothing is known yet.
func blank(m Machine) v1alpha1.BootstrapMachineStatus {
	return v1alpha1.BootstrapMachineStatus{Name: m.Name, Role: m.Role, Phase: v1alpha1.MachinePending}
}

// replaceMachine recreates a lost machine, one at a time: a worker if the spec says so,
// any machine on request. No step waits for it.
func replaceMachine(ctx context.Context, s *Session) (*Obstacle, error) {
	if s.Status.Phase != v1alpha1.BootstrapReady {
		if s.asked() != "" {
			return nil, s.refuseReplacement(ctx, s.asked(), "machines are replaced once the cluster was Ready; before that, destroy it and create it again")
		}
		return nil, nil
	}
	if name := s.replaced(); name != "" {
		return nil, s.continueUnless(ctx, s.indexOf(name))
	}
	return nil, s.chooseMachine(ctx)
}

// continueUnless continues a replacement, unless one is requested of another machine
// that can be replaced now: what a worker waits for may never come. A worker that
// is lost is found again afterwards; a control plane is not, so that another machine
// waits until it has its new request.
func (s *Session) continueUnless(ctx context.Context, i int) error {
	asked := s.asked()
	if asked == "" || i < 0 || asked == s.Plan.Machines[i].Name {
		return s.continueReplacement(ctx, i)
	}
	if s.Plan.Machines[i].Role == v1alpha1.RoleControlPlane && !s.isReplacement(s.machines.requests[i]) {
		err := s.continueReplacement(ctx, i)
		if err == nil && s.deferred != nil {
			s.deferObstacle(reasonMachineLost, fmt.Sprintf("machine %s is not replaced yet: %s", asked, s.deferred.Message))
		}
		return err
	}
	if err := s.takeRequest(ctx, asked); err != nil {
		return err
	}
	hindrance := s.deferred
	err := s.continueReplacement(ctx, i)
	s.deferred = hindrance
	return err
}

func (s *Session) indexOf(name string) int {
	return slices.IndexFunc(s.Plan.Machines, func(m Machine) bool { return m.Name == name })
}

// chooseMachine begins with the machine that was requested, or with the first
// worker that is lost.
func (s *Session) chooseMachine(ctx context.Context) error {
	if asked := s.asked(); asked != "" {
		return s.takeRequest(ctx, asked)
	}
	if i := s.lostWorker(); i >= 0 {
		return s.beginReplacement(ctx, i)
	}
	return nil
}

// takeRequest refuses a request that waiting does not help.
func (s *Session) takeRequest(ctx context.Context, name string) error {
	i := s.indexOf(name)
	switch {
	case i < 0:
		return s.refuseReplacement(ctx, name, "the cluster has no machine of that name")
	case s.Plan.Machines[i].Role == v1alpha1.RoleControlPlane && !s.spareControlPlanes():
		return s.refuseReplacement(ctx, name, "etcd has no majority without it: destroy the cluster and create it again")
	case !isLost(s.machines.requests[i]) && s.works(ctx, name):
		return s.refuseReplacement(ctx, name, "its node is Ready; only a machine that is lost is replaced")
	}
	return s.beginReplacement(ctx, i)
}

func (s *Session) works(ctx context.Context, name string) bool {
	nodes, err := s.liveNodes(ctx)
	return err == nil && isReadyNode(nodes, name)
}

// beginReplacement writes down what is going to be done, as soon as nothing
// blocks it. The next walk does it.
func (s *Session) beginReplacement(ctx context.Context, i int) error {
	m := s.Plan.Machines[i]
	if why := s.hindrance(ctx, i); why != "" {
		s.deferObstacle(reasonMachineLost, fmt.Sprintf("machine %s is lost, and is not replaced yet: %s", m.Name, why))
		return nil
	}
	mark := m.Name + " " + s.Clock().UTC().Format(time.RFC3339)
	return s.annotate(ctx, s.givenUp(m.Name), func(a map[string]string) {
		if a[v1alpha1.AnnotationReplace] == m.Name {
			delete(a, v1alpha1.AnnotationReplace)
			mark += requested
		}
		a[annotationReplacing] = mark
	})
}

// givenUp returns the event about a machine whose requested replacement has to wait
// because that of another machine is requested.
func (s *Session) givenUp(other string) *Event {
	i := s.indexOf(s.replaced())
	if i < 0 || s.replaced() == other || !s.onRequest() || s.isReplacement(s.machines.requests[i]) {
		return nil
	}
	return &Event{corev1.EventTypeWarning, reasonRefused, fmt.Sprintf("machine %s is not replaced for now: %s is replaced first; request it again if it is not replaced afterwards", s.replaced(), other)}
}

// onRequest reports whether the present replacement was requested.
func (s *Session) onRequest() bool {
	return strings.HasSuffix(s.Annotations[annotationReplacing], requested)
}

// continueReplacement takes a replacement one step further.
func (s *Session) continueReplacement(ctx context.Context, i int) error {
	if i < 0 {
		return s.endReplacement(ctx, nil)
	}
	r := &v1alpha1.MachineRequest{}
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Plan.Machines[i].Name}, r)
	switch {
	case apierrors.IsNotFound(err):
		return s.renew(ctx, i)
	case err != nil:
		return err
	case r.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID():
		return nameTaken(r)
	case s.isReplacement(r):
		return s.seeReplacement(ctx, i, r)
	case r.DeletionTimestamp.IsZero():
		return s.discard(ctx, i, r)
	}
	s.replacementWaits(i, "its MachineRequest is being deleted"+whyStill(r))
	return nil
}

// discard deletes the request of a machine that is lost, its member of etcd first.
// One that has turned up again in the meantime is kept.
func (s *Session) discard(ctx context.Context, i int, r *v1alpha1.MachineRequest) error {
	name := s.Plan.Machines[i].Name
	asked := s.onRequest() || s.asked() == name
	if !isLost(r) && (!asked || s.works(ctx, name)) {
		return s.endReplacement(ctx, &Event{corev1.EventTypeNormal, reasonRefused, fmt.Sprintf("machine %s is not replaced: it exists again", name)})
	}
	if why := s.hindrance(ctx, i); why != "" {
		s.replacementWaits(i, why)
		return nil
	}
	if done := s.leaveEtcd(ctx, i); !done {
		return nil
	}
	if err := s.current(ctx); err != nil {
		return err
	}
	same := client.Preconditions{UID: &r.UID}
	if err := s.Client.Delete(ctx, r, same); client.IgnoreNotFound(err) != nil {
		return err
	}
	s.replacementWaits(i, "its MachineRequest is being deleted")
	return nil
}

// leaveEtcd removes a control plane from etcd. It reports whether that is done.
func (s *Session) leaveEtcd(ctx context.Context, i int) bool {
	m := s.Plan.Machines[i]
	if m.Role != v1alpha1.RoleControlPlane {
		return true
	}
	if err := s.removeMember(ctx, i); err != nil {
		s.replacementWaits(i, "its member of etcd cannot be removed: "+step.Stable(err))
		return false
	}
	return true
}

// renew requests the new machine once nothing of the old one is left: neither in
// etcd, nor as a node, nor in the status, which is written first.
func (s *Session) renew(ctx context.Context, i int) error {
	m := s.Plan.Machines[i]
	if done := s.leaveEtcd(ctx, i); !done {
		return nil
	}
	if err := s.removeNode(ctx, m.Name); err != nil {
		s.replacementWaits(i, "its node cannot be removed: "+step.Stable(err))
		return nil
	}
	s.replacementWaits(i, "the new one is asked for")
	if !slices.Contains(s.machines.before, blank(m)) {
		return nil
	}
	if err := s.current(ctx); err != nil {
		return err
	}
	_, err := s.createRequest(ctx, m, s.Annotations[annotationReplacing])
	return err
}

// removeNode deletes the node of a machine that is gone, and its pods: none of them runs any more,
// and Kubernetes itself would replace them forty seconds later.
func (s *Session) removeNode(ctx context.Context, name string) error {
	if err := s.openCluster(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	api := s.kubernetes.cluster.CoreV1()
	if err := client.IgnoreNotFound(api.Nodes().Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
		return err
	}
	pods, err := api.Pods(metav1.NamespaceAll).List(ctx, onNode(name))
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(p.UID))}
		if err := client.IgnoreNotFound(api.Pods(p.Namespace).Delete(ctx, p.Name, now)); err != nil {
			return err
		}
	}
	return nil
}

// seeReplacement follows the new machine, which the other steps look after like
// any other, until it is Ready. If it is lost as well, or if its replacement is
// requested again, it is replaced in its turn, but not at once.
func (s *Session) seeReplacement(ctx context.Context, i int, r *v1alpha1.MachineRequest) error {
	name, begun := s.replacing()
	if slices.ContainsFunc(s.machines.before, func(m v1alpha1.BootstrapMachineStatus) bool { return m.Name == name && m.Ready && m.TalosConfigured }) {
		return s.endReplacement(ctx, &Event{corev1.EventTypeNormal, reasonReplaced, fmt.Sprintf("machine %s was replaced, and its node is Ready", name)})
	}
	state := "is lost again"
	if !isLost(r) {
		if s.asked() != name || s.works(ctx, name) {
			return nil
		}
		state = "its node is not Ready"
	}
	if s.Clock().Sub(begun) < replacePatience {
		s.deferObstacle(reasonMachineLost, fmt.Sprintf("machine %s was replaced and %s; it is not replaced within %d minutes of the last time", name, state, int(replacePatience.Minutes())))
		return nil
	}
	return s.beginReplacement(ctx, i)
}

// endReplacement removes the mark of a replacement, and a repeated request for it.
func (s *Session) endReplacement(ctx context.Context, e *Event) error {
	name := s.replaced()
	return s.annotate(ctx, e, func(a map[string]string) {
		delete(a, annotationReplacing)
		if a[v1alpha1.AnnotationReplace] == name {
			delete(a, v1alpha1.AnnotationReplace)
		}
	})
}

// refuseReplacement removes a request: left there, it would take effect when it is not
// expected any more.
func (s *Session) refuseReplacement(ctx context.Context, name, why string) error {
	e := &Event{corev1.EventTypeWarning, reasonRefused, fmt.Sprintf("machine %s is not replaced: %s", name, why)}
	return s.annotate(ctx, e, func(a map[string]string) { delete(a, v1alpha1.AnnotationReplace) })
}

// annotate changes annotations of the ClusterBootstrap, unless that has changed
// meanwhile, records the event, and ends the walk.
func (s *Session) annotate(ctx context.Context, e *Event, change func(map[string]string)) error {
	after := s.DeepCopy()
	after.Annotations = maps.Clone(s.Annotations)
	change(after.Annotations)
	lock := client.MergeFromWithOptions(s.ClusterBootstrap, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, after, lock); err != nil {
		return err
	}
	if e != nil && s.Record != nil {
		s.Record(*e)
	}
	return ErrChanged
}

func (s *Session) replacementWaits(i int, why string) {
	s.deferObstacle(reasonReplacing, fmt.Sprintf("machine %s is being replaced: %s", s.Plan.Machines[i].Name, why))
}

// deferObstacle reports an obstacle of a machine without ending the walk.
func (s *Session) deferObstacle(reason, message string) {
	s.deferred = &Obstacle{Reason: reason, Message: message, Poll: true, Urgent: true}
}
