// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package upstream plays programs of the addons' real charts, as far as they create objects
// that other addons and their readiness depend on: definitions, webhooks, drivers, volumes.
// Stand-ins bring most of these objects along; then there is nothing left to create.
package upstream

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// row is a program: the image and a word of the command line by which its container is known,
// and what it does until ctx ends.
type row struct {
	image, word string // an empty word is any
	run         func(context.Context, program) error
}

// rows is the table of all programs.
func rows() []row {
	return []row{
		{image: "/cilium/operator-generic", run: creates(ciliumDefinitions)},
		{image: "longhornio/longhorn-manager", word: "daemon", run: creates(longhornLabels, longhornWebhooks, longhornClass)},
		{image: "longhornio/longhorn-manager", word: "deploy-driver", run: creates(longhornDriver)},
		{image: "longhornio/csi-provisioner", run: provisions(longhornDriverName)},
	}
}

// program is one that runs in a container of a pod.
type program struct {
	client.Client

	config    *rest.Config
	pod       *corev1.Pod
	container corev1.Container
	log       *slog.Logger
}

// Run plays the programs of a pod with access to its cluster until ctx ends.
func Run(ctx context.Context, pod *corev1.Pod, config *rest.Config, log *slog.Logger) error {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	for _, container := range pod.Spec.Containers {
		if r := rowOf(container); r != nil {
			return r.run(ctx, program{Client: c, config: config, pod: pod, container: container, log: log})
		}
	}
	return nil
}

// Plays reports whether a pod has such a program.
func Plays(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return rowOf(c) != nil })
}

func rowOf(c corev1.Container) *row {
	words := append(slices.Clone(c.Command), c.Args...)
	for _, r := range rows() {
		if strings.HasSuffix(repository(c.Image), r.image) && (r.word == "" || slices.Contains(words, r.word)) {
			return &r
		}
	}
	return nil
}

// repository is an image without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image = image[:i]
	}
	return image
}
