// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"fmt"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// Catalogue is how a cloud calls sizes, and in which order it offers them.
type Catalogue struct {
	// Noun is the cloud's word for a size, such as "instance type".
	Noun string
	// Field is where users name one, such as spec.aws.instanceType.
	Field string
	// Elsewhere is what to do if a zone has no size that fits.
	Elsewhere string
	Families  Families
}

func (c Catalogue) hint() string { return "correct " + c.Field + ", or leave it out" }

// Smallest returns the smallest of the sizes that a zone offers, or refuses.
func (c Catalogue) Smallest(sizes []Size, s provider.MachineSpec, architecture, zone string) (Size, error) {
	best, found := c.Families.Choose(sizes, s.CPU, s.MemoryMB, architecture)
	if found {
		return best, nil
	}
	return Size{}, provider.Invalid.New("", provider.ReasonInstanceTypeNotFound,
		fmt.Errorf("zone %s offers no %s with %d vCPUs and %d MiB of memory for an image of %s", zone, c.Noun, s.CPU, s.MemoryMB, architecture),
		"request less, set "+c.Field+", or "+c.Elsewhere)
}

// Unknown refuses a name that the catalogue does not have.
func (c Catalogue) Unknown(place, name string) error {
	return provider.Invalid.New("", provider.ReasonInstanceTypeNotFound, fmt.Errorf("%s has no %s %q", place, c.Noun, name), c.hint())
}

// Accept refuses a size of the settings that is too small, or that the image or the zone
// cannot have.
func (c Catalogue) Accept(one Size, offered bool, s provider.MachineSpec, architecture, zone string) error {
	switch {
	case !one.Boots(architecture):
		return c.refuse(provider.ReasonInstanceTypeNotFound, "%s %s does not boot an image of %s", c.Noun, one.Name, architecture)
	case !one.Holds(s.CPU, s.MemoryMB):
		return c.refuse(provider.ReasonInstanceTypeTooSmall, "%s %s has %d vCPUs and %d MiB of memory; %d and %d are requested", c.Noun, one.Name, one.CPU, one.MemoryMB, s.CPU, s.MemoryMB)
	case !offered:
		return c.refuse(provider.ReasonInstanceTypeNotFound, "zone %s does not offer %s %s", zone, c.Noun, one.Name)
	}
	return nil
}

func (c Catalogue) refuse(reason, format string, args ...any) error {
	return provider.Invalid.New("", reason, fmt.Errorf(format, args...), c.hint())
}

// Choice is the size of a machine in a zone, or why there is none.
type Choice struct {
	Spec provider.MachineSpec
	Zone string
	Size Size
	Err  error
}

// Findings reports the size of every kind of machine in every zone.
func (c Catalogue) Findings(chosen []Choice) (all []provider.Finding, err error) {
	seen := map[string]bool{}
	for _, one := range chosen {
		about := fmt.Sprintf("%s for %d vCPUs and %d MiB in %s", c.Noun, one.Spec.CPU, one.Spec.MemoryMB, one.Zone)
		if seen[about] {
			continue
		}
		seen[about] = true
		f, err := check.Verdict(about, one.Err)
		if err != nil {
			return nil, err
		}
		if one.Err == nil {
			f.Message = one.Size.Name
		}
		all = append(all, f)
	}
	return all, nil
}

// Processors sums the processors of the machines by the quota that they count for, each
// machine with its first choice. Sizes without a quota are left out.
func Processors(chosen []Choice, quotaOf func(Size) string) map[string]int32 {
	asked, counted := map[string]int32{}, map[string]bool{}
	for _, c := range chosen {
		if c.Err == nil && !counted[c.Spec.Name] {
			counted[c.Spec.Name] = true
			asked[quotaOf(c.Size)] += c.Size.CPU
		}
	}
	delete(asked, "")
	return asked
}
