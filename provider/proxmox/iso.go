// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
)

// file is one of an ISO image.
type file struct{ name, content string }

const (
	sector     = 2048
	systemArea = 16 // sectors before the first descriptor
	rootSector = 21
)

// image returns an ISO 9660 image with the files in its root directory, whose names are in
// Rock Ridge entries. It is written here since it is small, and so that user data is not
// written to disk.
func image(label string, files []file) []byte {
	next := uint32(rootSector + 1)
	var root bytes.Buffer
	root.Write(record("\x00", rootSector, sector, 2, sharing(), posix(true), extension()))
	root.Write(record("\x01", rootSector, sector, 2, posix(true)))
	var data bytes.Buffer
	for _, f := range files {
		size := uint32(len(f.content))
		short := strings.ToUpper(strings.ReplaceAll(f.name, "-", "_")) + ".;1"
		root.Write(record(short, next, size, 0, posix(false), named(f.name)))
		data.WriteString(f.content)
		data.Write(make([]byte, padding(int(size))))
		next += (size + sector - 1) / sector
	}
	var out bytes.Buffer
	out.Write(make([]byte, systemArea*sector))
	out.Write(primary(label, next))
	out.Write(padded([]byte("\xffCD001\x01")))
	out.Write(padded(pathTable(binary.LittleEndian)))
	out.Write(padded(pathTable(binary.BigEndian)))
	out.Write(make([]byte, sector))
	out.Write(padded(root.Bytes()))
	out.Write(data.Bytes())
	return out.Bytes()
}

func padding(n int) int { return (sector - n%sector) % sector }

func padded(b []byte) []byte { return append(b, make([]byte, padding(len(b)))...) }

// both writes a number in both orders of bytes.
func both32(n uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, n), n)
}

func both16(n uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, n), n)
}

// epoch is the time of all files: the same content has the same image.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// record is an entry of a directory.
func record(name string, at, size uint32, flags byte, systemUse ...[]byte) []byte {
	var b bytes.Buffer
	b.Write([]byte{0, 0})
	b.Write(both32(at))
	b.Write(both32(size))
	b.Write([]byte{byte(epoch.Year() - 1900), byte(epoch.Month()), byte(epoch.Day()), 0, 0, 0, 0, flags, 0, 0})
	b.Write(both16(1))
	b.WriteByte(byte(len(name)))
	b.WriteString(name)
	if len(name)%2 == 0 {
		b.WriteByte(0)
	}
	for _, s := range systemUse {
		b.Write(s)
	}
	if b.Len()%2 != 0 {
		b.WriteByte(0)
	}
	out := b.Bytes()
	out[0] = byte(len(out))
	return out
}

// sharing says that Rock Ridge entries are used.
func sharing() []byte { return []byte{'S', 'P', 7, 1, 0xbe, 0xef, 0} }

// extension names the version of Rock Ridge.
func extension() []byte {
	const name = "RRIP_1991A"
	return append([]byte{'E', 'R', byte(8 + len(name)), 1, byte(len(name)), 0, 0, 1}, name...)
}

// posix is the mode of a file or directory.
func posix(directory bool) []byte {
	mode, links := uint32(0o100444), uint32(1)
	if directory {
		mode, links = 0o040555, 2
	}
	b := []byte{'P', 'X', 36, 1}
	for _, n := range []uint32{mode, links, 0, 0} {
		b = append(b, both32(n)...)
	}
	return b
}

// named is the name of a file as it is.
func named(name string) []byte {
	return append([]byte{'N', 'M', byte(5 + len(name)), 1, 0}, name...)
}

func pathTable(order binary.AppendByteOrder) []byte {
	b := order.AppendUint32([]byte{1, 0}, rootSector)
	return append(order.AppendUint16(b, 1), 0, 0)
}

// primary is the primary volume descriptor.
func primary(label string, sectors uint32) []byte {
	var b bytes.Buffer
	text := func(s string, n int) { b.WriteString(s + strings.Repeat(" ", n-len(s))) }
	b.WriteString("\x01CD001\x01\x00")
	text("LINUX", 32)
	text(label, 32)
	b.Write(make([]byte, 8))
	b.Write(both32(sectors))
	b.Write(make([]byte, 32))
	b.Write(both16(1))
	b.Write(both16(1))
	b.Write(both16(sector))
	b.Write(both32(uint32(len(pathTable(binary.LittleEndian)))))
	b.Write(binary.LittleEndian.AppendUint32(nil, systemArea+2))
	b.Write(make([]byte, 4))
	b.Write(binary.BigEndian.AppendUint32(nil, systemArea+3))
	b.Write(make([]byte, 4))
	b.Write(record("\x00", rootSector, sector, 2))
	text("", 128*4+37*3)
	stamp := epoch.Format("20060102150405") + "00\x00"
	b.WriteString(stamp + stamp + strings.Repeat("0", 16) + "\x00" + stamp + "\x01")
	return padded(b.Bytes())
}
