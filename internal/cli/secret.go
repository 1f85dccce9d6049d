// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
)

// annotationAmbient says of which surroundings a Secret was made.
const annotationAmbient = v1alpha1.Group + "/ambient"

// given are the credentials that the user hands over: the Secret of the manifest
// or the file of --credentials. Without both it is nil.
func (f bootstrapFlags) given(m *manifest.Manifest, notes io.Writer) (*corev1.Secret, error) {
	if f.rehearse {
		return nil, nil
	}
	if f.credentials == "" {
		if m.Secret != nil || len(m.Others) > 0 {
			noteReadable(notes, f.config)
		}
		return m.Secret, nil
	}
	if m.Secret != nil {
		return nil, failure.Usagef("there are two sources of credentials, the Secret in %s and --credentials; leave one out", f.config)
	}
	if _, referred := m.CredentialsKey(); !referred {
		return nil, failure.Usagef("--credentials has no place to go to; set spec.credentialsRef of ProviderConfig %s", m.Provider.Name)
	}
	data, err := os.ReadFile(f.credentials)
	if err != nil {
		return nil, failure.Usagef("read the credentials: %w", err)
	}
	noteReadable(notes, f.credentials)
	values, err := credentialValues(m.Provider, f.credentials, data)
	return operation.NewSecret(m.Provider, values), err
}

// credentialValues are the keys of the Secret that a file of credentials stands
// for. Nothing of its content may get into an error.
func credentialValues(p *v1alpha1.ProviderConfig, path string, data []byte) (map[string][]byte, error) {
	if p.Spec.Provider == v1alpha1.ProviderHarvester {
		if _, err := clientcmd.Load(data); err != nil || len(data) == 0 {
			return nil, failure.Usagef("credentials %s are no kubeconfig; download it from Harvester (Support, Download KubeConfig)", path)
		}
		return map[string][]byte{operation.SecretKey(p): data}, nil
	}
	var texts map[string]string
	if err := yaml.Unmarshal(data, &texts); err != nil || len(texts) == 0 {
		return nil, failure.Usagef("credentials %s are no YAML of the form key: value; docs/reference/providerconfig.md lists the keys of %s", path, p.Spec.Provider)
	}
	values := map[string][]byte{}
	for k, v := range texts {
		values[k] = []byte(v)
	}
	return values, nil
}

// chooseCredentials are those that the platform is asked with: what the user has
// given, else what the plane has from an earlier run, else the ambient ones. A
// rehearsal takes the simulator's and reads none of these.
func chooseCredentials(ctx context.Context, o *operation.Operation, m *manifest.Manifest, given *corev1.Secret, progress *ui.Reporter) (*corev1.Secret, error) {
	key, referred := m.CredentialsKey()
	if !referred {
		return nil, nil
	}
	if o.Rehearsal {
		return o.SimulatorSecret(m.Provider)
	}
	if given != nil {
		return given, nil
	}
	known := &corev1.Secret{}
	err := o.Client().Get(ctx, key, known)
	if source, made := known.Annotations[annotationAmbient]; err == nil && made {
		return ambientSecret(m, key, known.Data, source)
	}
	if err == nil {
		return operation.NewSecret(m.Provider, known.Data), nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	values, source, err := ambient(m.Provider)
	if err != nil {
		return nil, err
	}
	progress.Step("credentials: " + source)
	return ambientSecret(m, key, values, source)
}

// ambientSecret keeps the credentials of this machine on its plane. A cluster that
// is handed credentials has to be given some: those of this machine were meant for
// whoever sits at it.
func ambientSecret(m *manifest.Manifest, key client.ObjectKey, values map[string][]byte, source string) (*corev1.Secret, error) {
	if bootstrap.HandsOver(m.Cluster.Spec) {
		return nil, failure.Usagef("the credentials of this machine (%s) do not travel, and %s would be handed them for its own controllers; name a file with --credentials, add the Secret %s to the manifest, or set spec.addons.butlerController.enabled to false",
			source, m.Cluster.Spec.Cluster.Name, key.Name)
	}
	s := operation.NewSecret(m.Provider, values)
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotationAmbient, source)
	return s, nil
}

// ambient are the credentials that the platform's own tools would use: for
// Harvester the current context of kubectl's kubeconfig, with the files that it
// names taken in.
func ambient(p *v1alpha1.ProviderConfig) (map[string][]byte, string, error) {
	if p.Spec.Provider != v1alpha1.ProviderHarvester {
		return nil, "", failure.Usagef("there are no credentials for %s; add the Secret %s to the manifest, or name a file with --credentials", p.Spec.Provider, p.Spec.CredentialsRef.Name)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := rules.Load()
	if err != nil || config.Contexts[config.CurrentContext] == nil {
		return nil, "", failure.Usagef("there are no credentials for Harvester: no Secret %s in the manifest, no --credentials, and no kubeconfig with a current context in $KUBECONFIG or ~/.kube/config", p.Spec.CredentialsRef.Name)
	}
	name := config.CurrentContext
	if err = clientcmdapi.MinifyConfig(config); err == nil {
		err = clientcmdapi.FlattenConfig(config)
	}
	if err != nil {
		return nil, "", failure.Usagef("the context %q of your kubeconfig cannot be used: %w; name a file with --credentials", name, err)
	}
	data, err := clientcmd.Write(*config)
	return map[string][]byte{operation.SecretKey(p): data}, fmt.Sprintf("context %q of your kubeconfig", name), err
}

// noteReadable warns of credentials that others on this machine can read.
func noteReadable(notes io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(notes, "note: %s holds credentials and can be read by others; chmod 600 %s\n", path, path)
	}
}
