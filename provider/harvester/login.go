// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials are a kubeconfig, by default the one that kubectl uses.
func login() provider.Login {
	return provider.Login{
		Usage: "a kubeconfig", Key: v1alpha1.KeyKubeconfig, Parse: parseKubeconfig,
		Ambient: ambient, AmbientUsage: "that of kubectl", Fields: []string{"spec.harvester.endpoint"}, Place: place,
	}
}

func parseKubeconfig(content []byte) error {
	if _, err := clientcmd.Load(content); err != nil || len(content) == 0 {
		return errors.New("not a kubeconfig; download it from Harvester (Support, Download KubeConfig)")
	}
	return nil
}

// ambient returns the current context of kubectl's kubeconfig, with the content of the
// files that it names.
func ambient() (content []byte, source string, err error) {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil || config.Contexts[config.CurrentContext] == nil {
		return nil, "", fmt.Errorf("%w: no kubeconfig with a current context in $KUBECONFIG or ~/.kube/config", provider.ErrNoAmbient)
	}
	name := config.CurrentContext
	if err = clientcmdapi.MinifyConfig(config); err == nil {
		err = clientcmdapi.FlattenConfig(config)
	}
	if err != nil {
		return nil, "", fmt.Errorf("the context %q of your kubeconfig cannot be used: %w", name, err)
	}
	content, err = clientcmd.Write(*config)
	return content, fmt.Sprintf("context %q of your kubeconfig", name), err
}

// place names the server of the kubeconfig and the namespace of the machines.
func place(config *v1alpha1.ProviderConfig, c provider.Credentials) (at []string) {
	kubeconfig, err := clientcmd.Load(c.Get(login().KeyOf(config)))
	if err == nil {
		if current := kubeconfig.Contexts[kubeconfig.CurrentContext]; current != nil && kubeconfig.Clusters[current.Cluster] != nil {
			at = append(at, kubeconfig.Clusters[current.Cluster].Server)
		}
	}
	if h := config.Spec.Harvester; h != nil && h.Namespace != "" {
		at = append(at, "namespace "+h.Namespace)
	}
	return at
}
