// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const hintImage = "set spec.image of the request, spec.nutanix.imageUUID or spec.nutanix.imageName, or upload the image, see docs/getting-started/nutanix.md"

// wanted names the image of a machine, by its UUID or name; empty means that of the version
// of Talos.
func (p *platform) wanted(s provider.MachineSpec) string {
	return cmp.Or(s.Image, p.spec.ImageUUID, p.spec.ImageName)
}

// isUUID reports whether a text can be a UUID. Anything else is a name.
func isUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// imageFor returns the image of a machine. One that no machine can boot from is refused.
func (p *platform) imageFor(ctx context.Context, s provider.MachineSpec) (image, error) {
	text := p.wanted(s)
	read := p.imageNamed
	switch {
	case text == "" && s.TalosVersion == "":
		return image{}, provider.Invalid.New("", provider.ReasonImageMissing, errors.New("neither an image nor a Talos version is set"), hintImage)
	case text == "":
		text, read = s.TalosVersion+" "+s.Schematic, func(ctx context.Context, _ string) (image, error) { return p.talosImage(ctx, s) }
	case isUUID(text):
		read = p.imageByUUID
	}
	found, err := p.pictures.Get(ctx, text, func(ctx context.Context) (image, error) { return read(ctx, text) })
	if err != nil {
		return image{}, err
	}
	return found, usable(found)
}

func (p *platform) imageByUUID(ctx context.Context, id string) (image, error) {
	found, err := p.image(ctx, id)
	if gone(err) {
		return image{}, noImage(fmt.Errorf("there is no image %s that the user may see", id))
	}
	return found, err
}

// imageNamed returns the only image of a name: of several it is not known which is meant.
func (p *platform) imageNamed(ctx context.Context, name string) (one image, err error) {
	all, err := p.listImages(ctx, "name=="+name)
	if err != nil {
		return image{}, err
	}
	found := 0
	for _, i := range all {
		if i.name == name {
			one, found = i, found+1
		}
	}
	switch found {
	case 0:
		return image{}, noImage(fmt.Errorf("there is no image %q that the user may see", name))
	case 1:
		return one, nil
	}
	return image{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("%d images have the name %q", found, name), "name it by its UUID")
}

// talosImage looks for an image whose name has the version of Talos, and of several the best.
// One for another platform or architecture is not used: it would not boot, or not read its
// user data.
func (p *platform) talosImage(ctx context.Context, s provider.MachineSpec) (best image, err error) {
	all, err := p.listImages(ctx, "")
	if err != nil {
		return image{}, err
	}
	var others []string
	for _, i := range all {
		name := strings.ToLower(i.name)
		if !strings.Contains(name, "talos") || !cloud.ShowsVersion(name, s.TalosVersion) {
			continue
		}
		if other := foreign(name); other != "" {
			others = append(others, fmt.Sprintf("%s is for %s", i.name, other))
		} else if best.uuid == "" || better(i, best, s.Schematic) {
			best = i
		}
	}
	if best.uuid == "" {
		slices.Sort(others)
		return image{}, noImage(errors.New(strings.Join(append([]string{"there is no image for OpenStack and amd64 whose name has talos and " + s.TalosVersion}, others...), "; ")))
	}
	return best, nil
}

// openstack is the platform of the images of Talos that read the config drive of AHV.
const openstack = "openstack"

// foreign returns the other platform or architecture that the name of an image shows; empty if
// it shows none.
func foreign(name string) string {
	for _, other := range []string{"arm64", "aarch64"} {
		if slices.Contains(cloud.Words(name), other) {
			return other
		}
	}
	return cloud.OtherPlatform(name, openstack)
}

// better reports whether an image is to be preferred: with the schematic, then with the
// platform in its name, then the newest.
func better(a, b image, schematic string) bool {
	if x, y := hasSchematic(a, schematic), hasSchematic(b, schematic); x != y {
		return x
	}
	if x, y := slices.Contains(cloud.Words(a.name), openstack), slices.Contains(cloud.Words(b.name), openstack); x != y {
		return x
	}
	return cmp.Or(a.created.Compare(b.created), strings.Compare(a.uuid, b.uuid)) > 0
}

func hasSchematic(i image, schematic string) bool {
	return schematic != "" && (strings.Contains(i.name, schematic) || strings.Contains(i.description, schematic))
}

func noImage(err error) error {
	return provider.Invalid.New("", provider.ReasonImageNotFound, err, hintImage)
}

// usable refuses an image that no machine can boot from.
func usable(i image) error {
	switch {
	case i.kind != "" && i.kind != "DISK_IMAGE":
		return provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s is of type %s", i.name, i.kind), "upload it as a disk: the image of Talos for OpenStack")
	case i.state == stateError:
		return provider.Invalid.New("", provider.ReasonImageBroken, fmt.Errorf("image %s is in an error state: %s", i.name, strings.Join(i.messages, "; ")), "upload it again")
	case i.state != stateComplete:
		return provider.Unavailable.New("", provider.ReasonImageNotReady, fmt.Errorf("image %s is being uploaded", i.name), hintAgain)
	}
	return nil
}
