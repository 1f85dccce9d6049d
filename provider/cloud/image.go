// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// PlainSchematic is that of the images that Talos publishes: no extensions.
const PlainSchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// TalosName is the name of an image of a version for a place, such as a region, and an
// architecture, amd64 or arm64.
func TalosName(version, place, architecture string) string {
	return fmt.Sprintf("talos-%s-%s-%s", version, place, architecture)
}

// ShowsVersion reports whether the name or the description of an image has the version,
// also with dashes in place of dots. v1.9.2 is not in v1.9.20, nor in v1.9.2-rc.1.
func ShowsVersion(text, version string) bool {
	for _, v := range []string{version, strings.ReplaceAll(version, ".", "-")} {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, v)
			if !found {
				break
			}
			if rest = after; !continues(after) {
				return true
			}
		}
	}
	return false
}

// continues reports whether the text belongs to the version before it.
func continues(after string) bool {
	if after != "" && after[0] >= '0' && after[0] <= '9' {
		return true
	}
	for _, stage := range []string{"alpha", "beta", "rc"} {
		if strings.HasPrefix(after, "-"+stage) {
			return true
		}
	}
	return false
}

// platforms are those of the images of Talos, as the image factory names them.
var platforms = []string{
	"akamai", "aws", "azure", "cloudstack", "digitalocean", "equinixmetal", "exoscale", "gcp", "hcloud", "metal", "nocloud", "opennebula",
	"openstack", "oracle", "scaleway", "upcloud", "vmware", "vultr",
}

// OtherPlatform returns the platform of Talos that the name of an image shows, if it is not own.
// It is empty for a name that shows none, or own as well.
func OtherPlatform(name, own string) string {
	words := Words(name)
	if slices.Contains(words, own) {
		return ""
	}
	if i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(platforms, word) }); i >= 0 {
		return words[i]
	}
	return ""
}

// Words splits the name of an image, in lower case.
func Words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Schematic compares the schematic of an image with the manifest's.
type Schematic struct {
	Wanted string
	// Shown is the text of the image that may name its schematic: name, description, tags.
	Shown string
	// Published says that it is an image of Talos itself, without extensions.
	Published bool
	// Needs are the extensions that an image of another schematic is refused for.
	Needs []string
	// Hint is what to do about one of Talos itself, Mark where a schematic is shown.
	Hint, Mark string
}

// schematicShown finds the schematics that a text names.
var schematicShown = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// Add extends the finding about an image by what is known of its schematic. An image that is
// of another one is refused if extensions are needed: no other can be expected to be there.
func (s Schematic) Add(f provider.Finding) provider.Finding {
	other := schematicShown.FindString(s.Shown)
	switch {
	case s.Wanted == "" || strings.Contains(s.Shown, s.Wanted) || s.Published && s.Wanted == PlainSchematic:
		return f
	case s.Published:
		f.Verdict, f.Hint = provider.Unknown, s.Hint
		f.Message += " is the published one without extensions; the manifest has the schematic " + s.Wanted
	case other != "":
		f.Verdict, f.Hint = provider.Unknown, "use an image of that schematic, or set spec.talos.schematic to the one of the image"
		f.Message += " is of the schematic " + other + "; the manifest has " + s.Wanted
	default:
		f.Verdict, f.Hint = provider.Unknown, "name the schematic in "+s.Mark
		f.Message += " does not show whether it has the schematic " + s.Wanted + ", which is compared once a machine runs"
		return f
	}
	if len(s.Needs) > 0 {
		f.Verdict = provider.Refused
		f.Message += ", and the addons need " + strings.Join(s.Needs, " and ")
	}
	return f
}

// Images looks once at every image that machines want. Without machines it looks at that of
// the settings, which a machine without one of its own gets.
func Images(specs []provider.MachineSpec, wanted func(provider.MachineSpec) string, look func(provider.MachineSpec) (provider.Finding, error)) ([]provider.Finding, error) {
	if len(specs) == 0 && wanted(provider.MachineSpec{}) != "" {
		specs = []provider.MachineSpec{{}}
	}
	seen := map[string]bool{}
	var different []provider.MachineSpec
	for _, s := range specs {
		if key := wanted(s) + " " + s.TalosVersion + " " + s.Schematic; !seen[key] {
			seen[key], different = true, append(different, s)
		}
	}
	return check.Each(different, look)
}
