// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// flux names no namespace in its objects, as the real chart does not.
func flux(r release) chart {
	const check = `printf "%s-flux-check" .Release.Name`
	var objects []object
	for _, c := range []struct{ name, version string }{
		{"source-controller", "v1.4.1"}, {"kustomize-controller", "v1.4.0"}, {"helm-controller", "v1.1.0"},
		{"notification-controller", "v1.4.0"}, {"image-automation-controller", "v0.39.0"}, {"image-reflector-controller", "v0.33.0"},
	} {
		w := workload{
			kind: "Deployment", name: c.name, labels: labels("app", c.name), replicas: 1,
			containers: []container{{
				name: "manager", image: "ghcr.io/fluxcd/" + c.name + ":" + c.version, port: 8080,
				args: []any{expression(`printf "--events-addr=http://notification-controller.%s.svc.%s./" .Release.Namespace .Values.clusterDomain`)},
			}},
		}
		objects = append(objects, accounts(nil, w.name)[0], w.object(r, nil))
	}
	job := workload{account: expression(check), containers: []container{{name: "flux-cli", image: "ghcr.io/fluxcd/flux-cli:v2.4.0", args: []any{"check", "--pre"}}}}
	parts := append(always(objects...), when(".Values.installCRDs", definitions(fluxDefinitions())...)...)
	parts = append(parts, always(
		hook{"pre-install", "-10", afterSuccess}.on(accounts(inRelease, expression(check))[0]),
		job.job(r, expression(check), hook{"pre-install", "-5", afterSuccess}))...)
	return chart{app: "2.4.0", parts: parts, values: values{"installCRDs": true, "clusterDomain": "cluster.local"}}
}

func fluxDefinitions() (all []definition) {
	for _, g := range []struct {
		group, version string
		kinds          []string
	}{
		{"source", "v1", []string{"buckets Bucket", "gitrepositories GitRepository", "helmcharts HelmChart", "helmrepositories HelmRepository"}},
		{"source", "v1beta2", []string{"ocirepositories OCIRepository"}},
		{"kustomize", "v1", []string{"kustomizations Kustomization"}},
		{"helm", "v2", []string{"helmreleases HelmRelease"}},
		{"notification", "v1", []string{"receivers Receiver"}},
		{"notification", "v1beta3", []string{"alerts Alert", "providers Provider"}},
		{"image", "v1beta2", []string{"imagepolicies ImagePolicy", "imagerepositories ImageRepository", "imageupdateautomations ImageUpdateAutomation"}},
	} {
		all = append(all, define(g.group+".toolkit.fluxcd.io", g.version, g.kinds...)...)
	}
	return all
}
