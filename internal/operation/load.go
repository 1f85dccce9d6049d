// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"errors"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/image/archive"
)

// loadImages imports the images of the controllers into the KIND cluster, if the user has
// given a file with them.
func (o *Operation) loadImages() error {
	if o.Images == "" || o.Plane().Loaded {
		return nil
	}
	all, err := archive.Open(o.Images)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	err = o.loadAll(all)
	if err == nil {
		err = o.MarkLoaded()
	}
	return errors.Join(err, all.Close())
}

func (o *Operation) loadAll(all *archive.Archive) error {
	wanted, err := o.planeControllers()
	if err != nil {
		return err
	}
	architecture, err := o.architecture()
	if err != nil {
		return err
	}
	for _, a := range wanted {
		if err := o.loadImage(all, a, architecture); err != nil {
			return fmt.Errorf("load the image of %s: %w", a.Key, err)
		}
	}
	return nil
}

// loadImage imports the image of a controller under the name that its chart gives it.
func (o *Operation) loadImage(all *archive.Archive, a addon.Addon, architecture string) error {
	i := slices.IndexFunc(all.Images, func(i archive.Image) bool { return i.Name == a.Key })
	if i < 0 {
		return failure.Usagef("%s has no image %s; use those of the same release, or: butleradm images build", o.Images, a.Key)
	}
	o.report("loading the image of " + a.Key)
	file, err := os.CreateTemp("", "butler-image-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	named := a.Image()
	err = all.Images[i].Export(file, named.Repository+":"+named.Tag, architecture)
	if err == nil {
		err = o.Engine(o.Hooks.Engine).Load(o.Plane().Name, file)
	}
	return errors.Join(err, file.Close())
}

// architecture is that of the plane's nodes.
func (o *Operation) architecture() (string, error) {
	var nodes corev1.NodeList
	if err := o.Local.List(o.ctx, &nodes); err != nil {
		return "", err
	}
	if len(nodes.Items) == 0 {
		return "", errors.New("the plane has no nodes")
	}
	return nodes.Items[0].Status.NodeInfo.Architecture, nil
}
