// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/butlerdotdev/butler/provider/cloud"
)

// briefly is how long what machines refer to is kept: as long as the machines of one cluster
// are created together.
const briefly = 5 * time.Second

// recent is what the machines of a connection refer to, as it was read a short time ago. What
// is missing or refused is read again each time. The zero value keeps nothing.
type recent struct {
	images  *cloud.Recent[string] // their storage classes
	classes *cloud.Recent[*storagev1.StorageClass]
	passed  *cloud.Recent[struct{}] // checks
}

func newRecent() recent {
	return recent{
		images: cloud.NewRecent[string](briefly), classes: cloud.NewRecent[*storagev1.StorageClass](briefly),
		passed: cloud.NewRecent[struct{}](briefly),
	}
}

// check calls a check unless it has passed a short time ago.
func (r recent) check(ctx context.Context, name string, check func(context.Context) error) error {
	_, err := r.passed.Get(ctx, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, check(ctx) })
	return err
}
