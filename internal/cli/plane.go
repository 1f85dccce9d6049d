// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
)

// reading marks holders of a plane that give it free in a moment.
const reading = "butleradm (reading)"

func (a App) planeCommand() *cobra.Command {
	var dir string
	var port int
	c := &cobra.Command{
		Use:   "plane",
		Short: "Run a local control plane in the foreground",
		Long: `Run a local control plane, etcd and kube-apiserver with the kinds of this
project, in the foreground until Ctrl-C. The next start in the same directory
finds all objects again.`,
		Example: "  butleradm plane --state-dir ./plane\n  kubectl --kubeconfig ./plane/kubeconfig get machinerequests -A",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return failure.Usagef("--state-dir is missing: name a directory for the plane's state")
			}
			return a.runPlane(cmd.Context(), dir, port)
		},
	}
	c.Flags().StringVar(&dir, "state-dir", "", "`DIR` of the plane's state")
	c.Flags().IntVar(&port, "port", 0, "port of the API server (default: the last one, else any that is free)")
	return c
}

func (a App) runPlane(ctx context.Context, dir string, port int) error {
	begin := time.Now()
	if err := claimAlone(dir, isPlane); err != nil {
		return err
	}
	p, err := openPlane(ctx, plane.Options{Dir: dir, Holder: "butleradm plane", Port: port, Quota: a.Hooks.Quota})
	if err != nil {
		return interrupted(ctx, err)
	}
	fmt.Fprintf(a.Out, "kubeconfig: %s\nready in %.1fs\n", filepath.Join(dir, "kubeconfig"), time.Since(begin).Seconds())
	select {
	case <-ctx.Done():
		return p.Stop()
	case <-p.Done():
		return errors.Join(p.Err(), p.Stop())
	}
}

// openPlane starts a plane with the kinds of this project. Somebody who is only
// reading is waited for.
func openPlane(ctx context.Context, o plane.Options) (_ *plane.Plane, err error) {
	if o.Definitions, err = crd.All(); err != nil {
		return nil, err
	}
	o.Controllers = []string{"garbage-collector-controller", "namespace-controller"}
	o.AdmissionOff = []string{"ServiceAccount"}
	p, err := startPlane(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := admission.Apply(ctx, p.Config()); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func startPlane(ctx context.Context, o plane.Options) (*plane.Plane, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := plane.Start(ctx, o)
		if h, held := lock.Held(o.Dir); !errors.Is(err, lock.ErrHeld) || held && !strings.HasPrefix(h.Name, reading) {
			return p, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// read calls f with a client of the workspace's plane: the one that runs, else
// one that is started for the moment.
func (w workspace) read(ctx context.Context, f func(client.Client) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := w.readOnce(ctx, f)
		if _, gone := errors.AsType[*planeGone](err); !gone {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// planeGone is what reading fails with when whoever ran the plane has stopped
// it, or has only begun to start it.
type planeGone struct{ error }

func (w workspace) readOnce(ctx context.Context, f func(client.Client) error) error {
	definitions, err := crd.All()
	if err != nil {
		return err
	}
	p, err := plane.Start(ctx, plane.Options{Dir: w.plane(), Holder: reading, Definitions: definitions})
	if errors.Is(err, lock.ErrHeld) {
		return w.readOther(f)
	}
	if err != nil {
		return err
	}
	c, err := newClient(p.Config())
	if err == nil {
		err = f(c)
	}
	return errors.Join(err, p.Stop())
}

// readOther reads from the plane that another process runs.
func (w workspace) readOther(f func(client.Client) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", w.plane()+"/kubeconfig")
	if err != nil {
		return &planeGone{err}
	}
	c, err := newClient(config)
	if err == nil {
		err = f(c)
	}
	if unreachable(err) {
		return &planeGone{err}
	}
	return err
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme, err := program.Scheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}
