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

// ReadCredential reads one of the credentials of a cluster from a plane. It renews one
// that is about to expire, and with force any: no controller does that on a fenced
// plane, or while none runs.
func ReadCredential(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, suffix string, dial workspace.Dialer, force bool) (data []byte, err error) {
	s := &bootstrap.Session{ClusterBootstrap: cb, Client: c, Live: c, Dial: dial, Clock: time.Now}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		data, err = s.Credential(ctx, suffix, force)
		return err
	})
	return data, err
}
