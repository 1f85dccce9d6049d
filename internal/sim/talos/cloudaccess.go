// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
)

// cloudManagerOf knows the pod of a cloud controller manager by its image, and returns the
// platform that it is for.
func cloudManagerOf(pod *corev1.Pod) (platform string, ok bool) {
	for _, c := range pod.Spec.Containers {
		for suffix, platform := range map[string]string{
			"/provider-aws/cloud-controller-manager":       "aws",
			"/cloud-provider-gcp/cloud-controller-manager": "gcp",
			"/azure-cloud-controller-manager":              "azure",
		} {
			if strings.HasSuffix(repository(c.Image), suffix) {
				return platform, true
			}
		}
	}
	return "", false
}

// checkCloudAccess returns why a manager has no access to its cloud. It has it with the keys
// of a Secret, or else under the identity of its machine. Only pods on the host's network
// reach the metadata service, which gives out the latter.
func (n *node) checkCloudAccess(ctx context.Context, p *plane.Plane, pod *corev1.Pod, platform string) error {
	if n.machine.Metadata == nil || n.machine.Metadata.Platform != platform {
		return fmt.Errorf("%s is no machine of %s", n.machine.Name, platform)
	}
	for _, keys := range [][]secretKey{fileKeys(pod, "AWS_CONFIG_FILE"), fileKeys(pod, "GOOGLE_APPLICATION_CREDENTIALS"), azureKeys(pod)} {
		if ok, err := hasAll(ctx, p, pod.Namespace, keys); ok || err != nil {
			return err
		}
	}
	switch {
	case n.machine.Metadata.Identity == "":
		return errors.New("it has no credentials, and its machine no identity")
	case !pod.Spec.HostNetwork:
		return errors.New("it has no credentials, and does not reach the metadata service from the pod network")
	}
	return nil
}

// secretKey is a value of a Secret; with a field, that field of a JSON object in it.
type secretKey struct{ secret, key, field string }

// hasAll reports whether all keys have values; without keys they do not.
func hasAll(ctx context.Context, p *plane.Plane, namespace string, keys []secretKey) (bool, error) {
	for _, k := range keys {
		data, err := cluster.SecretData(ctx, p.Config(), namespace, k.secret)
		if err != nil {
			return false, err
		}
		if k.value(data) == "" {
			return false, nil
		}
	}
	return len(keys) > 0, nil
}

func (k secretKey) value(data map[string][]byte) string {
	if k.field == "" {
		return string(data[k.key])
	}
	var fields map[string]any
	if json.Unmarshal(data[k.key], &fields) != nil {
		return ""
	}
	text, _ := fields[k.field].(string)
	return text
}

// fileKeys is the file that an environment variable names, in the volume that it is in.
func fileKeys(pod *corev1.Pod, variable string) (keys []secretKey) {
	for _, c := range pod.Spec.Containers {
		i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == variable })
		if i < 0 {
			continue
		}
		for _, m := range c.VolumeMounts {
			file, inside := strings.CutPrefix(c.Env[i].Value, m.MountPath+"/")
			v := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.Secret != nil })
			if inside && v >= 0 {
				keys = append(keys, secretKey{secret: pod.Spec.Volumes[v].Secret.SecretName, key: file})
			}
		}
	}
	return keys
}

// azureKeys is the password in the configuration that the manager reads from a Secret.
func azureKeys(pod *corev1.Pod) (keys []secretKey) {
	for _, c := range pod.Spec.Containers {
		for _, arg := range c.Args {
			if name, ok := strings.CutPrefix(arg, "--cloud-config-secret-name="); ok && name != "" {
				keys = append(keys, secretKey{secret: name, key: "cloud-config", field: "aadClientSecret"})
			}
		}
	}
	return keys
}
