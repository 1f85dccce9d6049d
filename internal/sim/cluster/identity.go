// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/internal/plane"
)

// tokenLifetime is longer than any rehearsal; the token is not renewed.
const tokenLifetime = 24 * 60 * 60 // seconds

// writeKubeconfig has the kubelet get a token of the pod's service account, as it
// would for its volume, and writes it to a file in the process's directory.
func (p *process) writeKubeconfig(ctx context.Context, s *session) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLifetime)),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.pod.Name, UID: p.pod.UID},
	}}
	account := p.pod.Spec.ServiceAccountName
	request, err := s.client.CoreV1().ServiceAccounts(p.pod.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of service account %s/%s: %w", p.pod.Namespace, account, err)
	}
	const name = "pod"
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: s.access.Config.Host, CertificateAuthorityData: s.access.Config.CAData,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: request.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: p.pod.Namespace}},
		CurrentContext: name,
	})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(p.dir, p.container.Name+".kubeconfig")
	return path, plane.WriteFile(path, data)
}

// inherited is what a controller sees of the environment of this process: no
// credentials that happen to be there.
func inherited() (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// environment is the container's own, with what it asks of its pod.
func (p *process) environment() (env []corev1.EnvVar, err error) {
	fields := map[string]string{
		"metadata.name": p.pod.Name, "metadata.namespace": p.pod.Namespace, "metadata.uid": string(p.pod.UID),
		"spec.nodeName": p.pod.Spec.NodeName, "spec.serviceAccountName": p.pod.Spec.ServiceAccountName,
		"status.podIP": p.pod.Status.PodIP, "status.hostIP": p.pod.Status.HostIP,
	}
	for _, e := range p.container.Env {
		if from := e.ValueFrom; from != nil {
			if from.FieldRef == nil || fields[from.FieldRef.FieldPath] == "" {
				return nil, fmt.Errorf("the emulated kubelet cannot give %s the variable %s: it knows names, namespace and addresses of a pod", p.name(), e.Name)
			}
			e.Value = fields[from.FieldRef.FieldPath]
		}
		env = append(env, e)
	}
	return env, nil
}

// arguments are those of the container, with its own addresses instead of those that
// only a pod can have for itself.
func arguments(c corev1.Container, env []corev1.EnvVar, health, metrics string) (args []string) {
	own := map[string]string{"health-probe-bind-address": health, "metrics-bind-address": metrics}
	given := append([]string(nil), c.Args...)
	if len(c.Command) > 1 {
		given = append(append([]string(nil), c.Command[1:]...), given...)
	}
	for i := 0; i < len(given); i++ {
		name, _, whole := strings.Cut(strings.TrimLeft(given[i], "-"), "=")
		if _, replaced := own[name]; !replaced || !strings.HasPrefix(given[i], "-") {
			args = append(args, expand(given[i], env))
		} else if !whole {
			i++ // its value
		}
	}
	return append(args, "--health-probe-bind-address="+health, "--metrics-bind-address="+metrics)
}

// expand puts variables in place of their names, as a kubelet does.
func expand(text string, env []corev1.EnvVar) string {
	for _, e := range env {
		text = strings.ReplaceAll(text, "$("+e.Name+")", e.Value)
	}
	return text
}
