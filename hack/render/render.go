// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	namespace = "butler-system"
	header    = "# SPDX-FileCopyrightText: 2026 The Butler Authors\n# SPDX-License-Identifier: Apache-2.0\n# Written by `make manifests`.\n"
)

// render returns all files by their names below the root of the repository.
func render(root, version string) (map[string]string, error) {
	charts, err := controllers(root)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	var names []string
	for _, dir := range charts {
		objects, err := objectsOf(dir, version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		name := filepath.Base(dir) + ".yaml"
		names = append(names, name)
		workloads, rights := split(objects)
		for path, objects := range map[string][]object{
			"manifests/controllers/": objects, "config/manager/": workloads, "config/rbac/": rights,
		} {
			if files[path+name], err = document(objects); err != nil {
				return nil, err
			}
		}
	}
	files["config/manager/kustomization.yaml"] = kustomization(names...)
	files["config/rbac/kustomization.yaml"] = kustomization(names...)
	return files, layout(root, files)
}

// controllers are the folders of all charts with a Deployment: those that are
// built on the library.
func controllers(root string) (out []string, err error) {
	libraries, err := filepath.Glob(filepath.Join(root, "charts", "*", "charts", "butler-lib"))
	for _, dir := range libraries {
		out = append(out, filepath.Dir(filepath.Dir(dir)))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there are no charts below %s", filepath.Join(root, "charts"))
	}
	slices.Sort(out)
	return out, err
}

type object = *unstructured.Unstructured

// objectsOf renders a chart with the values that it has by default.
func objectsOf(dir, version string) (out []object, err error) {
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	c.Metadata.Version, c.Metadata.AppVersion = strings.TrimPrefix(version, "v"), version
	files, err := texts(c)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for text := range strings.SplitSeq(files[name], "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(o.Object) > 0 {
				out = append(out, o)
			}
		}
	}
	slices.SortFunc(out, byKind)
	for _, o := range out {
		withoutHelm(o.Object)
	}
	return out, nil
}

func texts(c *chart.Chart) (map[string]string, error) {
	release := common.ReleaseOptions{Name: c.Name(), Namespace: namespace, Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(c, nil, release, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, values)
}

// byKind puts accounts first and Deployments last, so that pods find their rights.
func byKind(a, b object) int {
	order := []string{"ServiceAccount", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "PodDisruptionBudget", "Deployment"}
	if d := slices.Index(order, a.GetKind()) - slices.Index(order, b.GetKind()); d != 0 {
		return d
	}
	return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
}

// withoutHelm takes off the labels that are true of releases only, wherever they
// are.
func withoutHelm(fields map[string]any) {
	for key, value := range fields {
		inner, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if key == "labels" {
			delete(inner, "app.kubernetes.io/instance")
			delete(inner, "app.kubernetes.io/managed-by")
			delete(inner, "helm.sh/chart")
		}
		withoutHelm(inner)
	}
}

// split separates RBAC objects from workloads.
func split(objects []object) (workloads, rights []object) {
	for _, o := range objects {
		switch o.GetKind() {
		case "Deployment", "PodDisruptionBudget":
			workloads = append(workloads, o)
		default:
			rights = append(rights, o)
		}
	}
	return workloads, rights
}

func document(objects []object) (string, error) {
	var parts []string
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(data))
	}
	return header + strings.Join(parts, "---\n"), nil
}
