// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/internal/failure"
)

const (
	// patience is how long a plane has to say which one it is.
	patience = 15 * time.Second
	// oldest is the first minor version of Kubernetes that has the admission policies.
	oldest = 30
)

// Identity is that of a user's cluster.
type Identity struct {
	// Cluster is the UID of its namespace kube-system, which no other cluster has.
	Cluster string
	// Server is the address of its API server.
	Server string
}

// ReadKubeconfig returns the current context of a kubeconfig alone, with the files that
// it names: what the user selects later does not change it.
func ReadKubeconfig(path string) ([]byte, error) {
	all, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}).Load()
	if err != nil {
		return nil, failure.Usagef("read the kubeconfig of the plane: %w", err)
	}
	if err := flatten(all); err != nil {
		return nil, failure.Usagef("kubeconfig %s: %w", path, err)
	}
	return clientcmd.Write(*all)
}

func flatten(all *clientcmdapi.Config) error {
	if all.CurrentContext == "" {
		return fmt.Errorf("it has no current context; set one: kubectl config use-context NAME")
	}
	if err := clientcmdapi.MinifyConfig(all); err != nil {
		return err
	}
	return clientcmdapi.FlattenConfig(all)
}

// Identify asks a cluster which one it is. It refuses one that cannot be a plane.
func Identify(ctx context.Context, kubeconfig []byte) (Identity, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return Identity{}, failure.Usagef("kubeconfig of the plane: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Identity{}, failure.Usagef("kubeconfig of the plane: %w", err)
	}
	system, err := api.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("ask the plane %s which cluster it is: %w", config.Host, err)
	}
	version, err := api.Discovery().ServerVersion()
	if err != nil {
		return Identity{}, fmt.Errorf("ask the plane %s for its version: %w", config.Host, err)
	}
	if tooOld(version.Major, version.Minor) {
		return Identity{}, failure.Usagef("the plane %s has Kubernetes %s; a plane needs 1.%d or later", config.Host, version.GitVersion, oldest)
	}
	return Identity{Cluster: string(system.UID), Server: config.Host}, nil
}

// tooOld reports whether a version is known to lack admission policies. Some vendors
// add a plus sign to the minor version.
func tooOld(major, minor string) bool {
	n, err := strconv.Atoi(strings.TrimSuffix(minor, "+"))
	return err == nil && major == "1" && n < oldest
}

// Reach returns the configuration of a client for the plane of a record. Another cluster
// than the recorded one is refused.
func Reach(ctx context.Context, o Options) (*rest.Config, error) {
	path := KubeconfigPath(o.Dir)
	kubeconfig, err := ReadKubeconfig(path)
	if err != nil {
		return nil, err
	}
	is, err := Identify(ctx, kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%w; its kubeconfig is %s", err, path)
	}
	if is.Cluster != o.Cluster {
		return nil, failure.Usagef("%s reaches another cluster than the one that is the plane; restore it", path)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the API server's own priority and fairness limits this client
	return config, nil
}
