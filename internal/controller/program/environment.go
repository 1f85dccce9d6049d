// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

// serviceAccountNamespace exists in every pod; elsewhere a lease needs a
// namespace too.
const (
	serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	usualNamespace          = "butler-system"
)

// environmentRules returns how to read $KUBECONFIG, nil if it is not set.
func environmentRules() *clientcmd.ClientConfigLoadingRules {
	paths := filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	if len(paths) == 0 {
		return nil
	}
	return &clientcmd.ClientConfigLoadingRules{Precedence: paths}
}

// namespace is where the leader lease lies.
func (s settings) namespace() string {
	data, err := os.ReadFile(serviceAccountNamespace)
	if ns := strings.TrimSpace(string(data)); err == nil && ns != "" {
		return ns
	}
	return usualNamespace
}
