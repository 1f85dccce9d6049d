// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// search finds and deletes the objects of a cluster by their tags.
type search struct {
	*operation.Operation // its plane is there only if this machine has one of the name
	*target              // what that plane knows; nil without one
	job                  *Teardown
	site                 inventory.Site
	copies               inventory.Copies // of the last list of the platform
	progress             *ui.Reporter
	held                 *lock.Lock // of a plane that does not start
}

// DestroyByManifest deletes objects with the name of the cluster in a manifest.
func (t *Teardown) DestroyByManifest(ctx context.Context, w workspace.Workspace, m *manifest.Manifest, given *corev1.Secret) (err error) {
	t.byManifest = true
	s, err := t.openSearch(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.site, err = s.siteFor(m, given); err != nil {
		return err
	}
	return s.run()
}

// DestroyByTags deletes objects with the cluster id that the plane of this machine has,
// whether or not that plane is in charge.
func (t *Teardown) DestroyByTags(ctx context.Context, w workspace.Workspace) (err error) {
	s, err := t.openSearch(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.target == nil || s.config == nil {
		return fmt.Errorf("the plane in %s no longer knows the platform of %s; use its manifest: butleradm destroy -c FILE --orphans", w.Dir, w.Name)
	}
	secret, err := t.Credentials(s.config)
	if err != nil {
		return err
	}
	if secret == nil {
		secret = s.secret
	}
	if s.site, err = s.newSite(s.config, secret); err != nil {
		return err
	}
	return s.run()
}

// openSearch opens what this machine has of a cluster. A plane that another
// command uses is refused; as long as the search lasts, no other command can use it.
func (t *Teardown) openSearch(ctx context.Context, w workspace.Workspace) (*search, error) {
	s := &search{job: t, progress: ui.NewReporter(t.Out, t.Err, "plain")}
	if !w.HasPlane() {
		discardLogs()
		s.Operation = operation.New(ctx, w, t.Hooks)
		return s, nil
	}
	holder := "butleradm destroy " + w.Name + " --orphans"
	o, err := operation.Open(ctx, w, t.Hooks, holder)
	if err == nil {
		s.Operation = o
		if s.target, err = readTarget(ctx, w, o.Local); err != nil {
			return nil, errors.Join(err, o.Close())
		}
		return s, nil
	}
	if errors.Is(err, lock.ErrHeld) || ctx.Err() != nil {
		return nil, err
	}
	if !s.isForced() && !t.DryRun {
		return nil, fmt.Errorf("ask the plane in %s whether it is in charge: %w; if it is lost for good, use the manifest: butleradm destroy -c FILE --orphans --dry-run prints the cluster id, and --cluster-id ID --yes deletes", w.Dir, err)
	}
	s.Operation = operation.New(ctx, w, t.Hooks)
	s.held, err = lock.Acquire(ctx, w.PlaneDir(), holder)
	return s, err
}

// close releases the plane or its lock.
func (s *search) close() error {
	if s.held != nil {
		return s.held.Release()
	}
	return s.Close()
}

// discardLogs discards the logs of libraries, for commands without a log file.
func discardLogs() { ctrllog.SetLogger(logr.Discard()) }

// isForced reports whether the user has confirmed the cluster id.
func (s *search) isForced() bool { return s.job.ClusterID != "" && s.job.Yes }

// siteFor returns the platform of a manifest, with the credentials that the user has
// given, or else those of the plane, or else the ambient ones.
func (s *search) siteFor(m *manifest.Manifest, given *corev1.Secret) (inventory.Site, error) {
	if _, referred := m.CredentialsKey(); !referred || given != nil || s.Rehearsal {
		return s.newSite(m.Provider, given)
	}
	if s.target != nil && s.secret != nil && s.config.Name == m.Provider.Name {
		return s.newSite(m.Provider, s.secret)
	}
	ambient, source, err := s.job.Ambient(m.Provider)
	if err != nil {
		return inventory.Site{}, err
	}
	s.progress.Step("credentials: " + source)
	return s.newSite(m.Provider, ambient)
}

func (s *search) newSite(config *v1alpha1.ProviderConfig, secret *corev1.Secret) (inventory.Site, error) {
	p, err := s.job.Provider(config.Spec.Provider)
	if err != nil {
		return inventory.Site{}, err
	}
	if s.Simulator, err = s.StartSimulator(s.Context(), p.Type, nil); err != nil {
		return inventory.Site{}, err
	}
	if s.Rehearsal {
		if secret, err = s.SimulatorSecret(p.Login, config); err != nil {
			return inventory.Site{}, err
		}
	}
	return inventory.NewSite(s.Operation, p, config, secret), nil
}

// run finds one cluster, prints its objects, asks for confirmation, and deletes them.
func (s *search) run() error {
	id, err := s.clusterID()
	if err != nil || id == "" {
		return err
	}
	found, err := s.ask(provider.Owner{ClusterID: id})
	if err != nil {
		return err
	}
	if err := s.checkName(id, found); err != nil {
		return err
	}
	if len(found) == 0 {
		s.reportNothing()
		return nil
	}
	text := fmt.Sprintf("%s (cluster id %s) on %s:\n\n%s\n  held by the platform: %s\n%s", s.Name, id, s.site.Config.Name, table(rows(found, nil)), inventory.CountByKind(found.Parts()), s.copies.Line())
	if s.job.DryRun {
		fmt.Fprintf(s.job.Out, "%s\nNothing was changed.\n", text)
		return nil
	}
	if err := s.refuseInCharge(id); err != nil {
		return err
	}
	fmt.Fprintln(s.job.Err, text)
	s.Hooks.Reached("destroy/listed")
	if !s.job.Yes && !s.job.Confirm(s.Context(), fmt.Sprintf("Delete all of this, without the plane of %s?", s.Name)) {
		return failure.Usagef("nothing was deleted; answer y, or pass --yes")
	}
	return s.delete(id)
}

// delete sweeps the platform, and ends with the ledger.
func (s *search) delete(id string) error {
	l := &ledger{clusterID: id}
	left, err := sweepPlatform(s.Context(), s.site, provider.Owner{ClusterID: id, Cluster: s.Name}, time.Time{}, s.progress, func(now inventory.Stock) error {
		l.record(now.Held)
		s.copies = now.Copies
		return nil
	})
	if err != nil {
		fmt.Fprintln(s.job.Out, l.line("found"))
		return fmt.Errorf("%w; run the same command again%s", leftError(s.Name, left, err), s.remedy(err))
	}
	s.Hooks.Reached("destroy/gone")
	if err := s.conclude(id); err != nil {
		return err
	}
	s.progress.Report(ui.Event{Type: ui.EventReady, Message: fmt.Sprintf("nothing of %s is left on the platform", s.Name)})
	fmt.Fprint(s.job.Err, s.copies.Line())
	if s.HasState() {
		fmt.Fprintf(s.job.Err, "\nIts state on this machine stays; remove that with: %s\n\n", s.Command("forget"))
	}
	fmt.Fprintln(s.job.Out, l.line("found"))
	return nil
}

// conclude writes to the ledger of the plane, if this machine has one of the
// cluster, that nothing is left.
func (s *search) conclude(id string) error {
	if s.target == nil {
		return nil
	}
	l, err := readLedger(s.Context(), s.Local, s.Name, id)
	if err != nil || l == nil {
		return err
	}
	l.complete = true
	return writeLedger(s.Context(), s.Operation, l)
}

// ask lists the platform, before anything is deleted.
func (s *search) ask(o provider.Owner) (inventory.Inventory, error) {
	found, err := retryTransient(s.Context(), s.progress, func(ctx context.Context) (inventory.Stock, error) { return s.site.List(ctx, o) })
	if err != nil {
		return nil, fmt.Errorf("list what the platform holds of %s: %w; nothing was deleted%s", s.Name, err, s.remedy(err))
	}
	s.copies = found.Copies.OfCluster(s.Name)
	return found.Held, nil
}

func (s *search) remedy(err error) string {
	if provider.KindOf(err) != provider.Unauthorized || s.Rehearsal {
		return ""
	}
	return "; pass other credentials with --credentials FILE"
}

// clusterID returns the id of the cluster: the user's, the one of the plane, or the
// only one with the name. It is empty if there is none.
func (s *search) clusterID() (string, error) {
	switch {
	case s.job.ClusterID != "":
		return s.job.ClusterID, nil
	case !s.job.byManifest && s.id != "":
		return s.id, nil
	}
	found, err := s.ask(provider.Owner{Cluster: s.Name})
	if err != nil {
		return "", err
	}
	clusters := found.ByCluster()
	if unowned := clusters[""]; len(unowned) > 0 {
		fmt.Fprintf(s.job.Err, "note: %s with the name %s have no cluster id and are kept\n", inventory.CountByKind(unowned.Parts()), s.Name)
		delete(clusters, "")
	}
	switch ids := slices.Sorted(maps.Keys(clusters)); len(ids) {
	case 0:
		s.reportNothing()
		return "", nil
	case 1:
		return ids[0], nil
	default:
		return "", s.ambiguousError(ids, clusters)
	}
}

func (s *search) reportNothing() {
	fmt.Fprintf(s.job.Err, "%s holds nothing of %s; nothing was changed\n%s", s.site.Config.Name, s.Name, s.copies.Line())
	fmt.Fprintln(s.job.Out, (&ledger{}).line("found"))
}

// ambiguousError prints the clusters with the same name.
func (s *search) ambiguousError(ids []string, clusters map[string]inventory.Inventory) error {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "  %s  %s\n", id, inventory.CountByKind(clusters[id].Parts()))
	}
	fmt.Fprintf(s.job.Err, "%s holds %d clusters of the name %s:\n\n%s\n", s.site.Config.Name, len(ids), s.Name, b.String())
	return failure.Usagef("%d clusters have the name %s; select one with --cluster-id ID; nothing was deleted", len(ids), s.Name)
}

// checkName refuses the id of a cluster that has another name.
func (s *search) checkName(id string, found inventory.Inventory) error {
	ours, foreign := found.OfCluster(s.Name)
	switch {
	case len(foreign) == 0:
		return nil
	case len(ours) > 0:
		return sharedIDError(s.Name, id, foreign)
	}
	return failure.Usagef("the cluster with id %s is %s, not %s; nothing was deleted", id, foreign[0].Owner.Cluster, s.Name)
}

// refuseInCharge refuses to delete while a plane is in charge of the cluster: there
// must be one writer only.
func (s *search) refuseInCharge(id string) error {
	if s.target == nil || s.cluster == nil || s.id != id || s.isForced() {
		return nil
	}
	if !selfhosted.MovedAway(s.cluster) {
		return failure.Usagef("the plane in %s is in charge of %s; use it: %s; if that is not possible, confirm the cluster with --cluster-id %s --yes", s.Dir, s.Name, s.Command("destroy"), id)
	}
	if _, err := readTargetOnCluster(s.Context(), s.Workspace, s.Local, s.cluster, s.progress); err == nil || selfhosted.Answered(err) {
		return failure.Usagef("%s manages itself, and answers; use it: %s; if that is not possible, confirm the cluster with --cluster-id %s --yes", s.Name, s.Command("destroy"), id)
	}
	return s.Context().Err()
}
