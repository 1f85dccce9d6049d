// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tag

import "regexp"

// short replaces the API group where a name has no dots or slashes, or little room.
const short = "butler-"

// What platforms accept: that of AWS is documented, the others are assumptions that the
// driver of the platform has to confirm.
var (
	awsName  = regexp.MustCompile(`^[\p{L}\p{N} _.:/=+@-]{1,128}$`)
	awsValue = regexp.MustCompile(`^[\p{L}\p{N} _.:/=+@-]{0,256}$`)

	azureName  = regexp.MustCompile(`^[^<>%&\\?/]{1,512}$`)
	azureValue = regexp.MustCompile(`^.{0,256}$`)

	gcpName  = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	gcpValue = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)

	nutanixName  = regexp.MustCompile(`^[^/]{1,64}$`)
	nutanixValue = regexp.MustCompile(`^[^/]{1,64}$`)

	proxmoxWord = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.+-]*$`)
)

// AWS is the style of tags: up to 128 characters, with values of up to 256.
func AWS() Style { return Style{Name: awsName, Value: awsValue} }

// Azure is the style of tags: names have no slash.
func Azure() Style { return Style{Prefix: short, Name: azureName, Value: azureValue} }

// GCP is the style of labels: lower-case letters, digits, _ and -, at most 63.
func GCP() Style { return Style{Prefix: short, Name: gcpName, Value: gcpValue} }

// Nutanix is the style of categories: names and values of at most 64 characters.
func Nutanix() Style { return Style{Prefix: short, Name: nutanixName, Value: nutanixValue} }

// Proxmox is the style of tags: words without values. Only lower case is kept as it is
// on every cluster.
func Proxmox() Style { return Style{Prefix: short, Joint: ".", Name: proxmoxWord} }
