// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command install applies the CRDs to the current cluster of
// KUBECONFIG, server-side, and waits until the API server serves them.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := install(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func install(ctx context.Context) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	all, err := crd.All()
	if err != nil {
		return err
	}
	fmt.Println("cluster:", config.Host)
	if err := plane.Define(ctx, config, all); err != nil {
		return err
	}
	for _, d := range all {
		fmt.Println("applied:", d.Name)
	}
	return admission.Apply(ctx, config)
}
