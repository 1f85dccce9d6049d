// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

const sector = 2048

// readISO returns the label of an ISO image and the files in its root directory, by their
// long names if it has them.
func readISO(image []byte) (label string, files map[string][]byte) {
	files = map[string][]byte{}
	for at := 16 * sector; at+sector <= len(image); at += sector {
		d := image[at : at+sector]
		if string(d[1:6]) != "CD001" || d[0] == 255 {
			return label, files
		}
		long := d[0] == 2 // Joliet
		switch d[0] {
		case 1:
			label = strings.TrimSpace(string(d[40:72]))
		case 2:
		default:
			continue
		}
		readDirectory(image, d[156:190], long, files)
	}
	return label, files
}

func readDirectory(image, record []byte, long bool, files map[string][]byte) {
	directory := extent(image, record)
	for at := 0; at < len(directory); {
		length := int(directory[at])
		if length == 0 {
			at = (at/sector + 1) * sector
			continue
		}
		if at+length > len(directory) || length < 34 {
			return
		}
		one := directory[at : at+length]
		at += length
		if one[25]&2 != 0 || 33+int(one[32]) > length {
			continue
		}
		if name := fileName(one, long); name != "" {
			files[name] = extent(image, one)
		}
	}
}

// extent is the content that a directory record refers to.
func extent(image, record []byte) []byte {
	from := int(binary.LittleEndian.Uint32(record[2:6])) * sector
	size := int(binary.LittleEndian.Uint32(record[10:14]))
	if from < 0 || size < 0 || from+size > len(image) {
		return nil
	}
	return image[from : from+size]
}

// fileName is the long name of a file: of Joliet, of Rock Ridge, or else the short one.
func fileName(record []byte, long bool) string {
	end := 33 + int(record[32])
	raw := record[33:end]
	if long {
		var wide []uint16
		for i := 0; i+1 < len(raw); i += 2 {
			wide = append(wide, binary.BigEndian.Uint16(raw[i:]))
		}
		return withoutVersion(string(utf16.Decode(wide)))
	}
	if name := alternateName(record[end:]); name != "" {
		return name
	}
	return strings.ToLower(strings.TrimSuffix(withoutVersion(string(raw)), "."))
}

func withoutVersion(name string) string {
	name, _, _ = strings.Cut(name, ";")
	return name
}

// alternateName is the name in the system use field of a record.
func alternateName(field []byte) string {
	for at := 0; at+5 <= len(field); at++ {
		if string(field[at:at+2]) == "NM" && int(field[at+2]) >= 5 && at+int(field[at+2]) <= len(field) {
			return string(field[at+5 : at+int(field[at+2])])
		}
	}
	return ""
}
