// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// localPlane is a client of the only one that runs.
func localPlane() (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(rehearsal(), "plane", "kubeconfig"))
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// fillStore writes to the local plane until that takes no more.
func fillStore(ctx context.Context) error {
	api, err := localPlane()
	if err != nil {
		return err
	}
	for n := 0; err == nil && n < 1000; n++ {
		load := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "load-"},
			Data:       map[string]string{"load": strings.Repeat("x", 200<<10)},
		}
		err = api.Create(ctx, load)
	}
	if err == nil {
		return errors.New("the store is never full")
	}
	return nil
}
