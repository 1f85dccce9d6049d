// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const hintImage = "set spec.image of the request, spec.gcp.image or spec.gcp.imageFamily, or import the image, see docs/getting-started/gcp.md"

// wanted names the image of a machine.
func (p *platform) wanted(s provider.MachineSpec) string {
	family := p.spec.ImageFamily
	if family != "" {
		family = fmt.Sprintf("projects/%s/global/images/family/%s", p.imageProject(), family)
	}
	return cmp.Or(s.Image, p.spec.Image, family)
}

func (p *platform) imageProject() string { return cmp.Or(p.spec.ImageProject, p.spec.ProjectID) }

// reference is the name of an image or of a family of images in a project.
type reference struct {
	project, name string
	family        bool
	// either says that a name may be that of an image or of a family.
	either bool
}

// referenceOf reads the name of an image: a path or URL, or a name alone.
func referenceOf(text, project string) (reference, error) {
	if !strings.Contains(text, "/") {
		return reference{project: project, name: text, either: true}, nil
	}
	_, after, found := strings.Cut("/"+text, "/global/images/")
	if of := partOf("/"+text, "projects"); of != "" {
		project = of
	}
	name, family := strings.CutPrefix(after, "family/")
	if !found || name == "" || strings.Contains(name, "/") {
		return reference{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %q is not the path of an image", text), "write projects/PROJECT/global/images/NAME or projects/PROJECT/global/images/family/NAME")
	}
	return reference{project: project, name: name, family: family}, nil
}

// image returns the image of a machine: by its path, by its family, or by the Talos
// version and the schematic.
func (p *platform) image(ctx context.Context, s provider.MachineSpec) (*computepb.Image, error) {
	text, read := p.wanted(s), p.talosImage
	key := text
	switch {
	case text == "" && s.TalosVersion == "":
		return nil, provider.Invalid.New("", provider.ReasonImageMissing, errors.New("neither an image nor a Talos version is set"), hintImage)
	case text == "":
		key = s.TalosVersion + " " + s.Schematic
	default:
		r, err := referenceOf(text, p.imageProject())
		if err != nil {
			return nil, err
		}
		read = func(ctx context.Context, _ provider.MachineSpec) (*computepb.Image, error) { return p.imageBy(ctx, r) }
	}
	found, err := p.pictures.Get(ctx, key, func(ctx context.Context) (*computepb.Image, error) { return read(ctx, s) })
	if err != nil {
		return nil, err
	}
	return found, usable(found)
}

func (p *platform) imageBy(ctx context.Context, r reference) (*computepb.Image, error) {
	if !r.family {
		found, err := p.images.Get(ctx, &computepb.GetImageRequest{Project: r.project, Image: r.name})
		if err == nil || !gone(err) {
			return found, err
		}
		if !r.either {
			return nil, p.noImage(r.project, r.name)
		}
	}
	found, err := p.images.GetFromFamily(ctx, &computepb.GetFromFamilyImageRequest{Project: r.project, Family: r.name})
	if gone(err) {
		return nil, p.noImage(r.project, r.name)
	}
	return found, err
}

// talosImage looks for an image of the project whose name has the version, one with the
// schematic first, the newest of several. Talos publishes no images on Google Cloud.
func (p *platform) talosImage(ctx context.Context, s provider.MachineSpec) (best *computepb.Image, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	name := talosName(s.TalosVersion)
	request := &computepb.ListImagesRequest{Project: p.imageProject(), Filter: new(fmt.Sprintf(`name eq "%s.*"`, name))}
	for i, err := range p.images.List(ctx, request).All() {
		if err != nil {
			return nil, err
		}
		if cloud.ShowsVersion(i.GetName(), s.TalosVersion) && architecture(i) == p.architectureOf() && (best == nil || better(i, best, s.Schematic)) {
			best = i
		}
	}
	if best == nil {
		return nil, p.noImage(p.imageProject(), name)
	}
	return best, nil
}

// talosName is how the names of imported images begin: they have no dots.
func talosName(version string) string { return "talos-" + strings.ReplaceAll(version, ".", "-") }

// better reports whether an image is to be preferred: with the schematic, then the newest.
func better(a, b *computepb.Image, schematic string) bool {
	if x, y := hasSchematic(a, schematic), hasSchematic(b, schematic); x != y {
		return x
	}
	return cmp.Or(strings.Compare(a.GetCreationTimestamp(), b.GetCreationTimestamp()), strings.Compare(a.GetName(), b.GetName())) > 0
}

// shortSchematic is how many characters of a schematic the name of an image has: the
// whole of it is longer than a name.
const shortSchematic = 12

// hasSchematic reports whether the description has the schematic, or the name its
// beginning.
func hasSchematic(i *computepb.Image, schematic string) bool {
	return schematic != "" && (strings.Contains(i.GetDescription(), schematic) ||
		len(schematic) > shortSchematic && strings.Contains(i.GetName(), schematic[:shortSchematic]))
}

func (p *platform) noImage(project, name string) error {
	return provider.Invalid.New("", provider.ReasonImageNotFound, fmt.Errorf("project %s has no image %q that the credentials may use", project, name), hintImage)
}

// usable refuses an image that no machine can boot from.
func usable(i *computepb.Image) error {
	switch state := i.GetStatus(); {
	case state == computepb.Image_PENDING.String():
		return provider.Unavailable.New("", provider.ReasonImageNotReady, fmt.Errorf("image %s is being imported", i.GetName()), cloud.HintAgain)
	case state != "" && state != computepb.Image_READY.String():
		return provider.Invalid.New("", provider.ReasonImageBroken, fmt.Errorf("image %s is %s", i.GetName(), state), "import it again")
	}
	if state := i.GetDeprecated().GetState(); state == "OBSOLETE" || state == "DELETED" {
		return provider.Invalid.New("", provider.ReasonImageBroken, fmt.Errorf("image %s is %s", i.GetName(), state), hintImage)
	}
	return nil
}

func architecture(i *computepb.Image) string { return cmp.Or(i.GetArchitecture(), x86) }

// hasUEFI reports whether an image boots with UEFI, which Shielded VMs need.
func hasUEFI(i *computepb.Image) bool {
	for _, f := range i.GetGuestOsFeatures() {
		if f.GetType() == computepb.GuestOsFeature_UEFI_COMPATIBLE.String() {
			return true
		}
	}
	return false
}
