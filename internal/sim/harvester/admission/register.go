// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server is where the API server finds the webhooks.
type server struct {
	url string
	ca  []byte
}

// Configurations register the webhooks with an API server, under the names that the
// platform has for them; url is where Handler is served, under a certificate of ca. The
// API server asks Harvester's mutator first, as its configuration comes first by name.
func Configurations(url string, ca []byte) []client.Object {
	s := server{url, ca}
	writes := []registrationv1.OperationType{registrationv1.Create, registrationv1.Update}
	machines := rule(kubevirtv1.GroupVersion.Group, "virtualmachines", writes...)
	claims := rule(corev1.GroupName, "persistentvolumeclaims", registrationv1.Delete)
	evictions := rule(corev1.GroupName, "pods/eviction", registrationv1.Create)
	return []client.Object{
		s.mutating("harvester-mutator", "mutator.harvesterhci.io", pathHarvesterMutator, machines),
		s.mutating("virt-api-mutator", "virtualmachines-mutator.kubevirt.io", pathMachineMutator, machines),
		&registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "harvester-validator"}, Webhooks: []registrationv1.ValidatingWebhook{
			s.validating("validator.harvesterhci.io", pathHarvesterValidator, machines, claims),
		}},
		&registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "virt-api-validator"}, Webhooks: []registrationv1.ValidatingWebhook{
			s.validating("virt-launcher-eviction-interceptor.kubevirt.io", pathEviction, evictions),
			s.validating("virtualmachine-validator.kubevirt.io", pathMachineValidator, machines),
		}},
	}
}

func rule(group, resource string, operations ...registrationv1.OperationType) registrationv1.RuleWithOperations {
	return registrationv1.RuleWithOperations{Operations: operations, Rule: registrationv1.Rule{
		APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource},
	}}
}

func (s server) mutating(configuration, name, path string, rules ...registrationv1.RuleWithOperations) *registrationv1.MutatingWebhookConfiguration {
	return &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: configuration},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name: name, Rules: rules, ClientConfig: s.client(path), FailurePolicy: new(registrationv1.Fail),
			SideEffects: new(registrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

func (s server) validating(name, path string, rules ...registrationv1.RuleWithOperations) registrationv1.ValidatingWebhook {
	return registrationv1.ValidatingWebhook{
		Name: name, Rules: rules, ClientConfig: s.client(path), FailurePolicy: new(registrationv1.Fail),
		SideEffects: new(registrationv1.SideEffectClassNoneOnDryRun), AdmissionReviewVersions: []string{"v1"},
	}
}

func (s server) client(path string) registrationv1.WebhookClientConfig {
	return registrationv1.WebhookClientConfig{URL: new(s.url + path), CABundle: s.ca}
}
