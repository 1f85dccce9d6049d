// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/cli"
	helmkube "helm.sh/helm/v4/pkg/kube"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/plane"
)

// everything sets each value that a controller's chart has to something else than
// its default.
const everything = `
image: {repository: example.com/own, tag: v9.9.9, pullPolicy: Always}
imagePullSecrets: [{name: own}]
replicaCount: 2
logLevel: debug
extraArgs: [--own]
resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}
serviceAccount: {annotations: {example.com/own: x}}
podAnnotations: {example.com/own: x}
priorityClassName: own
nodeSelector: {own: x}
tolerations: [{operator: Exists}]
`

// helm is Helm with the cluster of the tests.
func helm(t *testing.T) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, plane.WriteKubeconfig(settings.KubeConfig, api))
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	must(t, config.Init(settings.RESTClientGetter(), namespace, "secrets"))
	return config
}

// next is a chart under another name, beside what the other tests have installed.
func next(t *testing.T, name, version string) *chart.Chart {
	t.Helper()
	c := load(t, name)
	c.Metadata.Name = name + "-next"
	c.Metadata.Version, c.Metadata.AppVersion = version, "v"+version
	return c
}

// TestAReleaseIsUpgradedFromAllDefaultsToNone and back, and goes without a trace:
// nothing in it is of a kind that cannot be changed.
func TestAReleaseIsUpgradedFromAllDefaultsToNone(t *testing.T) {
	c, config := installed(t), helm(t)
	for _, name := range controllers {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{}
			must(t, yaml.Unmarshal([]byte(everything), &values))
			if name != "butler-controller" {
				values["credentialsNamespaces"] = []any{vault, namespace}
			}
			if provides(name) {
				values["credentialsSecrets"] = []any{vault + "/a", namespace + "/b"}
			}
			release := name + "-next"
			install := action.NewInstall(config)
			install.ReleaseName, install.Namespace, install.WaitStrategy = release, namespace, helmkube.HookOnlyStrategy
			_, err := install.RunWithContext(t.Context(), next(t, name, "0.1.0"), nil)
			must(t, err)
			before := deployment(t, c, release)
			upgraded(t, config, next(t, name, "0.2.0"), values)
			if got := deployment(t, c, release).Spec.Template.Spec.Containers[0].Image; got != "example.com/own:v9.9.9" {
				t.Errorf("it runs %s", got)
			}
			upgraded(t, config, next(t, name, "0.3.0"), nil)
			if after := deployment(t, c, release); !cmp.Equal(before.Spec.Selector, after.Spec.Selector) {
				t.Errorf("pods are others' now: %v", after.Spec.Selector)
			}
			uninstall := action.NewUninstall(config)
			uninstall.WaitStrategy = helmkube.HookOnlyStrategy
			_, err = uninstall.Run(release)
			must(t, err)
			for _, o := range []client.Object{&appsv1.Deployment{}, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}} {
				if err := c.Get(t.Context(), key(o, release), o); !apierrors.IsNotFound(err) {
					t.Errorf("%T is left: %v", o, err)
				}
			}
		})
	}
}

func upgraded(t *testing.T, config *action.Configuration, c *chart.Chart, values map[string]any) {
	t.Helper()
	upgrade := action.NewUpgrade(config)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.ResetValues = namespace, helmkube.HookOnlyStrategy, true
	_, err := upgrade.RunWithContext(t.Context(), c.Name(), c, values)
	must(t, err)
}

func key(o client.Object, name string) client.ObjectKey {
	if _, ok := o.(*appsv1.Deployment); ok {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}
	return client.ObjectKey{Name: name}
}

func deployment(t *testing.T, c client.Client, name string) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	must(t, c.Get(t.Context(), key(d, name), d))
	return d
}
