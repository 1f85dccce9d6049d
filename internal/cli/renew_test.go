// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/pki"
)

// expectRenewed gives the plane of this machine credentials that the cluster does not
// take: the commands find their way all the same, with new ones.
func expectRenewed(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	for reason, lifetime := range map[string]time.Duration{"a certificate that has run out": -time.Minute, "one of another authority": time.Hour} {
		old := a.spoilWay(cluster, lifetime)
		if r := a.ok("status", cluster); r.err != "" {
			t.Errorf("%s: status said\n%s", reason, r.err)
		}
		a.withPlane(filepath.Join(a.home, "rehearsals", cluster, "plane"), func(local client.Client) {
			if now := a.wayTo(local, cluster); now.UID != old.UID || now.ResourceVersion == old.ResourceVersion {
				t.Errorf("%s: the kubeconfig on this machine is not renewed", reason)
			}
		})
	}
}

// wayTo is the Secret with the kubeconfig of a cluster on a plane.
func (a adm) wayTo(c client.Client, cluster string) *corev1.Secret {
	a.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(a.Context(), client.ObjectKey{Namespace: system, Name: cluster + "-kubeconfig"}, secret); err != nil {
		a.Fatal(err)
	}
	return secret
}

// spoilWay puts the certificate of another authority into the kubeconfig of a cluster
// on this machine, and returns the Secret.
func (a adm) spoilWay(cluster string, lifetime time.Duration) (secret *corev1.Secret) {
	a.Helper()
	ca, err := pki.NewCA("other")
	if err != nil {
		a.Fatal(err)
	}
	pair, err := ca.Issue(pki.Request{CommonName: "admin", Organizations: []string{"system:masters"}, Client: true, Lifetime: lifetime})
	if err != nil {
		a.Fatal(err)
	}
	a.withPlane(filepath.Join(a.home, "rehearsals", cluster, "plane"), func(local client.Client) {
		secret = a.wayTo(local, cluster)
		config, err := clientcmd.Load(secret.Data["kubeconfig"])
		if err != nil {
			a.Fatal(err)
		}
		for _, user := range config.AuthInfos {
			user.ClientCertificateData, user.ClientKeyData = pair.Cert, pair.Key
		}
		if secret.Data["kubeconfig"], err = clientcmd.Write(*config); err != nil {
			a.Fatal(err)
		}
		if err := local.Update(a.Context(), secret); err != nil {
			a.Fatal(err)
		}
	})
	return secret
}
