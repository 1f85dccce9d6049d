// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tag

import (
	"regexp"
	"sync"
)

// short replaces the API group where a name has no dots or slashes, or little room.
const short = "butler-"

// What platforms accept. The expressions are large, and a program needs those of its own
// platform only, so each is compiled when it is first used.
var (
	aws     = style("", `[\p{L}\p{N} _.:/=+@-]{1,128}`, `[\p{L}\p{N} _.:/=+@-]{0,256}`)
	azure   = style(short, `[^<>%&\\?/]{1,512}`, `.{0,256}`)
	gcp     = style(short, `[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}`, `[\p{Ll}\p{Lo}\p{N}_-]{0,63}`)
	nutanix = style(short, `[^/]{1,64}`, `[^/]{1,64}`)
	proxmox = sync.OnceValue(func() Style {
		return Style{Prefix: short, Joint: ".", Name: whole(`[a-z0-9_][a-z0-9_.+-]*`)}
	})
)

// AWS is the style of tags: up to 128 characters, with values of up to 256.
func AWS() Style { return aws() }

// Azure is the style of tags: names have no slash.
func Azure() Style { return azure() }

// GCP is the style of labels: lower-case letters, digits, _ and -, at most 63.
func GCP() Style { return gcp() }

// Nutanix is the style of categories: names and values of at most 64 characters.
func Nutanix() Style { return nutanix() }

// Proxmox is the style of tags: words without values. Only lower case is kept as it is
// on every cluster.
func Proxmox() Style { return proxmox() }

func style(prefix, name, value string) func() Style {
	return sync.OnceValue(func() Style {
		return Style{Prefix: prefix, Name: whole(name), Value: whole(value)}
	})
}

// whole matches a text as a whole.
func whole(expression string) *regexp.Regexp { return regexp.MustCompile("^" + expression + "$") }
