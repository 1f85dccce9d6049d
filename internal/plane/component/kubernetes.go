// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// ListenerFD is the descriptor of the listener that a kube-apiserver inherits.
const ListenerFD = 4

// runAPIServer serves on the listener that the parent has opened, so that a
// port that is in use shows before anything is started.
func runAPIServer(ctx context.Context, args []string) error {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range o.Flags().FlagSets {
		flags.AddFlagSet(f)
	}
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
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	exitWith(ctx)
	return apiserver.Run(ctx, completed)
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
