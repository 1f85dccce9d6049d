// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package program is the main body of every controller binary: flags, logs and
// a manager for its reconcilers.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/version"
)

// Program is a controller as a process of its own.
type Program struct {
	Name string
	// Flags, if set, adds flags of the program's own.
	Flags func(*flag.FlagSet)
	// Credentials, if set, are the Secrets that are watched; flags limit them.
	Credentials *Credentials
	// Register adds the controller's reconcilers to a manager with the kinds of
	// Scheme.
	Register func(manager.Manager) error
}

// Streams are where a program writes.
type Streams struct {
	Out io.Writer
	Err io.Writer
}

// settings are the flags of a program.
type settings struct {
	kubeconfig  string
	leaderElect bool
	metrics     string
	health      string
	level       slog.Level
	version     bool
}

// Main runs the program with the arguments of the process until it is asked to
// end, and returns the exit code.
func (p Program) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := p.Run(ctx, os.Args[1:], Streams{Out: os.Stdout, Err: os.Stderr}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}

// Run runs the program until the context ends. The arguments are those after
// the program's name.
func (p Program) Run(ctx context.Context, args []string, out Streams) error {
	s, err := p.parse(args, out.Err)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.version {
		_, err := fmt.Fprintln(out.Out, p.Name, version.String())
		return err
	}
	log(s.level, out.Err)
	m, err := s.manager(ctx, p)
	if err != nil {
		return err
	}
	if err := p.Register(m); err != nil {
		return fmt.Errorf("register the controllers: %w", err)
	}
	return m.Start(ctx)
}

// Scheme returns the kinds that the controllers of this project need.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, v1alpha1.AddToScheme(s)
}

func (p Program) parse(args []string, errOut io.Writer) (settings, error) {
	s := settings{level: slog.LevelInfo}
	f := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "`file` with access to the cluster that holds the requests (default: $KUBECONFIG, else in-cluster)")
	f.BoolVar(&s.leaderElect, "leader-elect", false, "work only while holding the leader lease")
	f.StringVar(&s.metrics, "metrics-bind-address", "0", "`address` of the metrics endpoint, 0 for none")
	f.StringVar(&s.health, "health-probe-bind-address", "0", "`address` of /healthz and /readyz, 0 for none")
	f.TextVar(&s.level, "log-level", slog.LevelInfo, "`level` of the log: debug, info, warn or error")
	f.BoolVar(&s.version, "version", false, "print the version and exit")
	if p.Credentials != nil {
		p.Credentials.flags(f)
	}
	if p.Flags != nil {
		p.Flags(f)
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return s, nil
}

// log sends the logs of all libraries to one JSON stream.
func log(level slog.Level, w io.Writer) {
	l := logr.FromSlogHandler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	ctrllog.SetLogger(l)
	klog.SetLogger(l)
}

func (s settings) manager(ctx context.Context, p Program) (manager.Manager, error) {
	config, err := s.config()
	if err != nil {
		return nil, fmt.Errorf("find the cluster that holds the requests: %w", err)
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	m, err := manager.New(config, manager.Options{
		Scheme:                        scheme,
		NewCache:                      p.Credentials.newCache(ctx),
		Metrics:                       server.Options{BindAddress: s.metrics},
		HealthProbeBindAddress:        s.health,
		LeaderElection:                s.leaderElect,
		LeaderElectionID:              p.Name + ".butler.butlerlabs.dev",
		LeaderElectionNamespace:       s.namespace(),
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster that holds the requests: %w", err)
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return m, m.AddReadyzCheck("caches", synced(m.GetCache()))
}

// config prefers the flag, then $KUBECONFIG, then the cluster it runs in.
func (s settings) config() (*rest.Config, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	// The API server's own priority and fairness limits this client.
	c.QPS = -1
	return c, nil
}

func (s settings) load() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: s.kubeconfig}
	if s.kubeconfig == "" {
		rules = environmentRules()
	}
	if rules == nil {
		return rest.InClusterConfig()
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
}
