// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"time"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// Credential is one of the credentials that a plane has of a cluster. One that is
// about to run out is renewed, with anew any: on a plane that is fenced no controller
// does that, nor while none runs.
func Credential(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, suffix string, dial workspace.Dialer, anew bool) (data []byte, err error) {
	s := &bootstrap.Session{ClusterBootstrap: cb, Client: c, Live: c, Dial: dial, Clock: time.Now}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		data, err = s.Credential(ctx, suffix, anew)
		return err
	})
	return data, err
}
