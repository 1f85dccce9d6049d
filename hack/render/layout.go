// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
)

// layout adds what ties the rendered files together for kustomize.
func layout(root string, files map[string]string) error {
	for dir, folder := range map[string]string{"config/crd": "bases", "config/admission": "policies"} {
		paths, err := filepath.Glob(filepath.Join(root, dir, folder, "*.yaml"))
		if err != nil {
			return err
		}
		var names []string
		for _, path := range paths {
			names = append(names, folder+"/"+filepath.Base(path))
		}
		files[dir+"/kustomization.yaml"] = kustomization(names...)
	}
	files["config/default/kustomization.yaml"] = kustomization("namespace.yaml", "../crd", "../admission", "../rbac", "../manager")
	files["config/default/namespace.yaml"] = header + `apiVersion: v1
kind: Namespace
metadata:
  labels:
    pod-security.kubernetes.io/enforce: restricted
  name: ` + namespace + "\n"
	return nil
}

func kustomization(resources ...string) string {
	return header + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - " + strings.Join(resources, "\n  - ") + "\n"
}
