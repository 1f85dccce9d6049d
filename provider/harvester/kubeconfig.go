// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/provider"
)

// reasonKubeconfig: the kubeconfig cannot be used.
const reasonKubeconfig = "KubeconfigInvalid"

// restConfig turns the kubeconfig of the credentials into a client configuration
// whose every connection is opened by the transport.
func restConfig(op string, c provider.Config) (*rest.Config, error) {
	config, err := load(op, c)
	if err != nil {
		return nil, err
	}
	rc, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		// The error's text may quote the kubeconfig.
		return nil, provider.Invalid.New(op, reasonKubeconfig, errors.New("the kubeconfig is not complete"), "it needs a current context with cluster and user")
	}
	if rc.Host, err = c.Credentials.Endpoint(op, "spec.harvester.endpoint", c.Spec.Harvester.Endpoint, rc.Host); err != nil {
		return nil, err
	}
	rc.Dial = c.Transport.Dial
	if rc.Proxy == nil {
		rc.Proxy = c.Transport.Proxy
	}
	rc.QPS = -1
	rc.Wrap(c.Transport.Wrap)
	rc.UserAgent = cmp.Or(c.Transport.Agent, "butler-provider-harvester")
	return rc, nil
}

func load(op string, c provider.Config) (*clientcmdapi.Config, error) {
	data, err := c.Credentials.Require(op, login().KeyOf(c.ProviderConfig), "put the Harvester kubeconfig there, or name its key in spec.credentialsRef.key")
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, provider.Invalid.New(op, reasonKubeconfig, errors.New("the kubeconfig cannot be parsed"), "correct it in the Secret")
	}
	return config, selfContained(op, config)
}

// selfContained refuses a kubeconfig that runs programs or reads files: they
// would be those of the controller, not of the user.
func selfContained(op string, c *clientcmdapi.Config) error {
	var found []string
	for _, u := range c.AuthInfos {
		for what, set := range map[string]bool{
			"an exec plugin": u.Exec != nil, "an auth provider": u.AuthProvider != nil, "a token file": u.TokenFile != "",
			"a client certificate file": u.ClientCertificate != "", "a client key file": u.ClientKey != "",
		} {
			if set {
				found = append(found, what)
			}
		}
	}
	for _, cluster := range c.Clusters {
		if cluster.CertificateAuthority != "" {
			found = append(found, "a certificate authority file")
		}
	}
	if len(found) == 0 {
		return nil
	}
	return provider.Invalid.New(op, "KubeconfigNotSelfContained", fmt.Errorf("the kubeconfig uses %s", slices.Min(found)),
		"use one that holds its certificates and token itself (kubectl config view --flatten)")
}
