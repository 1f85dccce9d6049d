// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Reasons of the condition CredentialsAvailable.
const (
	reasonKubeconfigPending = "KubeconfigPending"
	reasonInSecrets         = "InSecrets"
	reasonInStatus          = "InSecretsAndStatus"
)

// inline returns a credential for the status; it is empty unless the spec asks for it.
func (s *Session) inline(credential []byte) string {
	if s.Spec.StatusCredentials != v1alpha1.StatusCredentialsInline {
		return ""
	}
	return base64.StdEncoding.EncodeToString(credential)
}

// showCredentials sets the condition that names the Secrets of the credentials.
func (s *Session) showCredentials() {
	c := metav1.Condition{Type: v1alpha1.ConditionCredentialsAvailable, Status: metav1.ConditionTrue, ObservedGeneration: s.Generation}
	talosconfig := fmt.Sprintf("Secret %s/%s holds the talosconfig", s.Namespace, SecretName(s.Spec.Cluster.Name, SecretTalosconfig))
	switch {
	case s.kubernetes.kubeconfig == nil && meta.IsStatusConditionTrue(s.Status.Conditions, c.Type):
		return
	case s.kubernetes.kubeconfig == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, reasonKubeconfigPending, talosconfig+"; the kubeconfig is not issued yet"
	default:
		c.Reason = reasonInSecrets
		c.Message = fmt.Sprintf("Secret %s/%s holds the kubeconfig, %s", s.Namespace, SecretName(s.Spec.Cluster.Name, SecretKubeconfig), talosconfig)
	}
	if c.Status == metav1.ConditionTrue && s.Spec.StatusCredentials == v1alpha1.StatusCredentialsInline {
		c.Reason, c.Message = reasonInStatus, c.Message+"; both are in the status, too"
	}
	meta.SetStatusCondition(&s.Status.Conditions, c)
}
