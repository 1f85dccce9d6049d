// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// first are the kinds of a manifest: a short form means one of these before any other.
var first = []string{"ClusterBootstrap", "ProviderConfig", "NetworkPool"}

// nearby is how many names are suggested for one that does not exist.
const nearby = 5

// Find returns the fields that a text means: a whole name such as
// ClusterBootstrap.spec.cluster.topology, or the end of one, such as cluster.topology. If
// there are several, the text does not say which.
func (all Fields) Find(text string) Fields {
	wanted := normal(text)
	if found := all.where(func(f Field) bool {
		return normal(f.Name()) == wanted || normal(f.Kind)+"."+wanted == normal(f.Name()) && isFirst(f)
	}); len(found) > 0 {
		return found[:1]
	}
	found := all.where(func(f Field) bool { return isSpec(f) && strings.HasSuffix(normal(f.Name()), "."+wanted) })
	if len(found) == 0 {
		found = all.where(func(f Field) bool { return strings.HasSuffix(normal(f.Name()), "."+wanted) })
	}
	if own := found.where(isFirst); len(own) > 0 {
		found = own
	}
	return found.shortest()
}

// shortest keeps the fields that are nearest to the top, if a kind has only one of those.
func (all Fields) shortest() Fields {
	if len(all) == 0 {
		return nil
	}
	depth := func(f Field) int { return strings.Count(f.Path, ".") }
	least := slices.MinFunc(all, func(a, b Field) int { return depth(a) - depth(b) })
	top := all.where(func(f Field) bool { return depth(f) == depth(least) })
	if len(top) == 1 {
		return top
	}
	return all
}

// Nearest returns the names that an unknown one was probably meant to be.
func (all Fields) Nearest(text string) (out []string) {
	last := text[strings.LastIndex(text, ".")+1:]
	byEnd := map[string][]string{}
	var ends []string
	for _, f := range slices.Concat(all.where(isFirst), all.where(func(f Field) bool { return !isFirst(f) })) {
		end := f.Name()[strings.LastIndex(f.Name(), ".")+1:]
		if !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
		byEnd[end] = append(byEnd[end], f.Name())
	}
	for len(out) < nearby {
		n := manifest.Nearest(last, ends)
		if n == "" {
			break
		}
		out = append(out, byEnd[n]...)
		ends = slices.DeleteFunc(ends, func(e string) bool { return e == n })
	}
	return out[:min(len(out), nearby)]
}

func (all Fields) where(keep func(Field) bool) (out Fields) {
	for _, f := range all {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

func isFirst(f Field) bool { return slices.Contains(first, f.Kind) }

func isSpec(f Field) bool { return strings.HasPrefix(f.Path, "spec") }

// normal is a name without what may be written in several ways.
func normal(name string) string {
	name = strings.NewReplacer("[]", "", "[*]", "").Replace(strings.ToLower(name))
	return strings.Trim(name, ".")
}

func isProvider(name string) bool {
	return slices.Contains([]v1alpha1.ProviderType{
		v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox, v1alpha1.ProviderAWS, v1alpha1.ProviderGCP, v1alpha1.ProviderAzure,
	}, v1alpha1.ProviderType(name))
}
