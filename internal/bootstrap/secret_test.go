// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// forbidding is an API server that forbids every read.
type forbidding struct{ client.Reader }

func (forbidding) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(corev1.Resource("secrets"), key.Name, errors.New("no role"))
}

func TestASecretThatMayNotBeReadSaysWhatToSet(t *testing.T) {
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere"}}
	s := &Session{ClusterBootstrap: cb, Live: forbidding{}}
	_, err := s.readSecret(t.Context(), SecretKubeconfig)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "add namespace elsewhere to clusterNamespaces") {
		t.Errorf("%v", err)
	}
}
