// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// ListenerFD is the descriptor of the listener that a kube-apiserver inherits.
const ListenerFD = 4

// runAPIServer serves on the listener that the parent has opened, so that a
// port that is in use shows before anything is started.
func runAPIServer(ctx context.Context, s *store, args []string) error {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range o.Flags().FlagSets {
		flags.AddFlagSet(f)
	}
	reported := flags.String("report-version", "", "version that /version reports instead of the real one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	if err := logsapi.ValidateAndApply(o.Logs, nil); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	listener, err := net.FileListener(os.NewFile(ListenerFD, "listener"))
	if err != nil {
		return fmt.Errorf("inherited listener: %w", err)
	}
	o.SecureServing.Listener = listener
	url, err := s.await(ctx)
	if err != nil {
		return err
	}
	o.Etcd.StorageConfig.Transport.ServerList = []string{url}
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	exitWith(ctx)
	return serveAPI(ctx, completed, *reported)
}

// serveAPI is apiserver.Run, with another version at /version unless it is empty, with
// schemas at request, and with default roles at once.
func serveAPI(ctx context.Context, o options.CompletedOptions, reported string) error {
	config, err := apiserver.NewConfig(o)
	if err != nil {
		return err
	}
	published, err := takeOver(ctx, config)
	if err != nil {
		return err
	}
	if err := createDefaultsAtOnce(config); err != nil {
		return err
	}
	generic := config.Aggregator.GenericConfig
	build := generic.BuildHandlerChainFunc
	generic.BuildHandlerChainFunc = func(next http.Handler, c *server.Config) http.Handler {
		return build(reporting(published.handler(next), reported), c)
	}
	completed, err := config.Complete()
	if err != nil {
		return err
	}
	chain, err := apiserver.CreateServerChain(completed)
	if err != nil {
		return err
	}
	published.of(chain.GenericAPIServer)
	prepared, err := chain.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}

// reporting answers /version with another version, if there is one.
func reporting(next http.Handler, text string) http.Handler {
	if text == "" {
		return next
	}
	info := version.Get()
	info.GitVersion = text
	if v, err := utilversion.ParseSemantic(text); err == nil {
		info.Major, info.Minor = strconv.Itoa(int(v.Major())), strconv.Itoa(int(v.Minor()))
	}
	body, _ := json.MarshalIndent(info, "", "  ") // strings only
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" && r.URL.Path != "/version/" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
}

func runControllerManager(ctx context.Context, args []string) error {
	return runCommand(ctx, controllermanager.NewControllerManagerCommand(), args)
}

func runScheduler(ctx context.Context, args []string) error {
	return runCommand(ctx, scheduler.NewSchedulerCommand(), args)
}

func runCommand(ctx context.Context, c *cobra.Command, args []string) error {
	exitWith(ctx)
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	return c.ExecuteContext(ctx)
}
