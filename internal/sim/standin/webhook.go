// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// The kinds of webhook configurations.
const (
	validating = "Validating"
	mutating   = "Mutating"
)

// webhooks are those of one configuration. The program that runs them sets their CA.
type webhooks struct {
	kind, name string
	service    string
	port       int // 0 means 443
	rules      []rule
	// injected names the Certificate whose CA cert-manager puts in.
	injected string
}

// rule is one webhook: what it is asked about, and where.
type rule struct {
	name, path string
	group      string
	versions   []string // none means v1
	resources  []string
	operations []string // none means CREATE and UPDATE
}

func (w webhooks) object(namespace any) object {
	var all []any
	for _, r := range w.rules {
		all = append(all, w.webhook(namespace, r))
	}
	o := named("admissionregistration.k8s.io/v1", w.kind+"WebhookConfiguration", nil, w.name, object{"webhooks": all})
	if ns, plain := namespace.(string); plain && w.injected != "" {
		o.annotated(map[string]string{injectCA: ns + "/" + w.injected})
	}
	return o
}

func (w webhooks) webhook(namespace any, r rule) object {
	operations, versions := r.operations, r.versions
	if operations == nil {
		operations = []string{"CREATE", "UPDATE"}
	}
	if versions == nil {
		versions = []string{"v1"}
	}
	at := object{"name": w.service, "namespace": namespace, "path": r.path}
	if w.port > 0 {
		at["port"] = w.port
	}
	return object{
		"name": r.name, "admissionReviewVersions": []string{"v1"}, "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 10,
		"clientConfig": object{"service": at},
		"rules": []any{object{
			"apiGroups": []string{r.group}, "apiVersions": versions, "operations": operations, "resources": r.resources,
		}},
	}
}

const (
	injectCA       = "cert-manager.io/inject-ca-from"
	certManagerAPI = "cert-manager.io/v1"
)

// serving are an issuer and a certificate for a webhook's service. They are
// accepted once the webhook of cert-manager answers.
func serving(namespace any, issuer, certificate, secret, service string) []object {
	name := any(service + ".svc")
	switch ns := namespace.(type) {
	case string:
		name = service + "." + ns + ".svc"
	case expression:
		name = expression(`printf "` + service + `.%s.svc" ` + string(ns))
	}
	return []object{
		named(certManagerAPI, "Issuer", namespace, issuer, object{"spec": object{"selfSigned": object{}}}),
		named(certManagerAPI, "Certificate", namespace, certificate, object{"spec": object{
			"dnsNames": []any{name}, "issuerRef": object{"kind": "Issuer", "name": issuer}, "secretName": secret,
		}}),
	}
}
