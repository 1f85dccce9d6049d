// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// glance is how often the platform is looked at while the controllers delete.
const glance = 5 * time.Second

// destruction is a cluster being destroyed through its plane.
type destruction struct {
	*operation
	*doomed
	app      App
	provider provider.Provider
	// given are credentials that replace those of the plane; nil means none.
	given *corev1.Secret
	// silence is why a cluster that manages itself does not answer; nil means that
	// it does, or need not.
	silence error
	ledger  *ledger
	t       *teller
}

// destruction prepares to destroy a cluster, which the plane that local reads knows:
// its platform can be asked after it.
func (a App) destruction(o *operation, local client.Reader, d *doomed, f destroyFlags) (*destruction, error) {
	x := &destruction{operation: o, doomed: d, app: a, t: newTeller(a, "plain")}
	var err error
	if x.provider, err = a.provider(d.providerType()); err != nil {
		return nil, err
	}
	if o.platform, err = o.simulate(o.ctx, x.provider, nil); err != nil {
		return nil, err
	}
	x.silence = x.catchUp(local)
	if d.config == nil {
		return x, nil
	}
	if o.rehearsal {
		x.given, err = o.simulatorsOwn(d.config)
		return x, err
	}
	x.given, err = replacement(a, d.config, f.credentials)
	return x, err
}

// catchUp takes over what a cluster that manages itself knows better than the plane
// of this machine: how to ask the platform, and for what it was asked.
func (x *destruction) catchUp(local client.Reader) error {
	if !movedAway(x.cluster) {
		return nil
	}
	now, err := x.doomedBeyond(x.ctx, local, x.cluster, x.t)
	if err != nil {
		return err
	}
	if now.config != nil {
		x.config, x.secret = now.config, now.secret
	}
	x.requests = now.requests
	return nil
}

func (x *destruction) owner() provider.Owner { return provider.Owner{ClusterID: x.id} }

// site is the platform with the best credentials that there are.
func (x *destruction) site() site {
	secret := x.secret
	if x.given != nil {
		secret = x.given
	}
	return site{x.provider, x.config, secret, x.transport()}
}

// list asks the platform what it holds of the cluster, before anything is
// changed.
func (x *destruction) list() (inventory, error) {
	if x.id == "" {
		return nil, nil
	}
	if x.config == nil {
		return nil, fmt.Errorf("ask the platform what it holds of %s: the ProviderConfig is gone from the plane; go by the tags instead: butleradm destroy -c FILE --orphans", x.name)
	}
	found, err := insist(x.ctx, x.t, func(ctx context.Context) (inventory, error) { return x.site().inventory(ctx, x.owner()) })
	if err != nil {
		return nil, fmt.Errorf("ask the platform what it holds of %s: %w; nothing was deleted%s", x.name, err, x.remedy(err))
	}
	return found, nil
}

// remedy is what to do about credentials that the platform refuses.
func (x *destruction) remedy(err error) string {
	if provider.KindOf(err) != provider.Unauthorized || x.rehearsal {
		return ""
	}
	return fmt.Sprintf("; hand over others with: %s --credentials FILE", x.command("destroy"))
}

// picture is what will go, as text.
func (x *destruction) picture(found inventory) string {
	rows := found.rows(x.requests)
	if len(rows) == 0 {
		return fmt.Sprintf("The platform holds nothing of %s.\n", x.name)
	}
	held := split(found.parts())
	if held == "" {
		held = "nothing"
	}
	return fmt.Sprintf("%s (cluster id %s) on %s:\n\n%s\n  held by the platform: %s\n", x.name, x.id, x.config.Name, table(rows), held)
}

// run deletes everything, in the order in which nothing loses its owner: requests
// and what the platform made of them, ProviderConfig, credentials.
func (x *destruction) run(found inventory) error {
	if err := x.comeHome(); err != nil {
		return err
	}
	if x.given != nil {
		if err := x.put(x.ctx, x.given); err != nil {
			return err
		}
	}
	if err := x.record(found); err != nil {
		return err
	}
	x.hooks.at("destroy/recorded")
	if err := x.remove(); err != nil {
		return err
	}
	x.hooks.at("destroy/gone")
	if err := x.sweepRest(); err != nil {
		return err
	}
	if err := x.removeConfig(); err != nil {
		return err
	}
	x.hooks.at("destroy/config")
	x.t.tell(ui.Event{Type: ui.EventReady, Message: fmt.Sprintf("%s is destroyed; nothing is left on the platform", x.name)})
	return nil
}

// comeHome takes the management back from a cluster that manages itself. The
// platform has to take the credentials for that, so new ones come first.
func (x *destruction) comeHome() error {
	if !movedAway(x.cluster) {
		return nil
	}
	if _, err := x.turnTo(x.ctx, x.cluster, x.t); err != nil {
		return err
	}
	if x.given != nil {
		if err := x.put(x.ctx, x.given); err != nil {
			return err
		}
	}
	err := x.takeBack(x.provider, x.t)
	if err == nil {
		x.doomed, err = x.workspace.doomed(x.ctx, x.local)
	}
	return err
}

// record writes down what will go before the first of it goes.
func (x *destruction) record(found inventory) (err error) {
	namespace := manifest.Namespace
	if x.cluster != nil {
		namespace = x.cluster.Namespace
	}
	x.ledger, err = x.enter(x.ctx, namespace, x.id, found)
	return err
}

// remove deletes the ClusterBootstrap and waits until its controller has let it
// go, which is when its machines are gone. It is deleted before the controllers
// start, so that they make nothing new.
func (x *destruction) remove() error {
	if x.cluster != nil {
		if err := x.keepID(x.ctx, x.config, x.id); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(x.local.Delete(x.ctx, x.cluster)); err != nil {
			return err
		}
		x.hooks.at("destroy/deleted")
	}
	if err := x.start(x.provider); err != nil {
		return err
	}
	if x.cluster == nil {
		return nil
	}
	stop := x.witness()
	defer stop()
	err := x.watch(client.ObjectKeyFromObject(x.cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		x.t.showDeletion(object.(*v1alpha1.ClusterBootstrap))
		return false
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return x.t.lastly(err)
}

// witness looks at the platform while the controllers work: what appears only now
// belongs into the ledger, and credentials that it refuses should be known at
// once. It ends when the function that it returns is called.
func (x *destruction) witness() (stop func()) {
	if x.id == "" || x.config == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(x.ctx)
	var group sync.WaitGroup
	group.Go(func() {
		told := ""
		for ctx.Err() == nil {
			told = x.look(ctx, told)
			_ = pause(ctx, nil, glance) // its end is that of the loop
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// look takes in what the platform holds, and tells that it refuses the
// credentials, once.
func (x *destruction) look(ctx context.Context, told string) string {
	s := x.site()
	if secret, err := secretOf(ctx, x.local, x.config); err == nil {
		s.secret = secret // somebody may have renewed it
	}
	seen, err := s.inventory(ctx, x.owner())
	switch {
	case ctx.Err() != nil:
		return told
	case err == nil:
		if x.ledger.see(seen) {
			// The next listing tries again what cannot be written now.
			_ = x.writeLedger(ctx, x.ledger)
		}
		return ""
	case provider.KindOf(err) == provider.Unauthorized && err.Error() != told:
		x.t.tell(ui.Event{Type: ui.EventWarning, Message: err.Error() + x.remedy(err)})
		return err.Error()
	}
	return told
}

// sweepRest deletes what no request stood for: it has the cluster's id, and
// nobody else will ever ask for it.
func (x *destruction) sweepRest() error {
	if x.id == "" {
		return nil
	}
	s := x.site()
	if secret, err := secretOf(x.ctx, x.local, x.config); err != nil {
		return err
	} else if secret != nil {
		s.secret = secret
	}
	left, err := x.app.sweep(x.ctx, s, x.owner(), x.t, func(now inventory) error {
		if x.ledger.see(now) {
			return x.writeLedger(x.ctx, x.ledger)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(x.app.Out, x.ledger.line("created"))
		return fmt.Errorf("%w; run the same command again%s", stillThere(x.name, left, err), x.remedy(err))
	}
	return nil
}

// stillThere names what is left of a cluster, and why.
func stillThere(cluster string, left inventory, err error) error {
	if len(left) == 0 {
		return fmt.Errorf("ask the platform what is left of %s: %w", cluster, err)
	}
	return fmt.Errorf("%s is left of %s on the platform: %w", left.names(), cluster, err)
}

// removeConfig deletes the ProviderConfig, and only then its credentials.
func (x *destruction) removeConfig() error {
	if x.config == nil {
		return nil
	}
	if err := client.IgnoreNotFound(x.local.Delete(x.ctx, x.config)); err != nil {
		return err
	}
	if err := x.awaitGone(x.config, x.t); err != nil {
		return err
	}
	key := session.SecretName(x.config)
	if key.Name == "" {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return client.IgnoreNotFound(x.local.Delete(x.ctx, secret))
}
