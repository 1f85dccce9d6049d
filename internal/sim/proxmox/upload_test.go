// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"bytes"
	"encoding/binary"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

// image is an ISO image with some files in its root directory, with the names of Rock Ridge.
func image(label string, files ...string) []byte {
	const sector = 2048
	out := make([]byte, 19*sector)
	primary := out[16*sector:]
	primary[0] = 1
	copy(primary[1:], "CD001")
	copy(primary[40:72], label+strings.Repeat(" ", 32))
	record := func(name string, at, size int, directory bool) []byte {
		alternate := append([]byte{'N', 'M', byte(5 + len(name)), 1, 0}, name...)
		r := make([]byte, 34, 34+len(alternate))
		binary.LittleEndian.PutUint32(r[2:], uint32(at))
		binary.LittleEndian.PutUint32(r[10:], uint32(size))
		if directory {
			r[25] = 2
		}
		r[32], r[33] = 1, '_'
		r = append(r, alternate...)
		r[0] = byte(len(r))
		return r
	}
	copy(primary[156:], record("", 18, sector, true)[:34])
	copy(out[17*sector:], "\xffCD001")
	at := 18 * sector
	for i := 0; i+1 < len(files); i += 2 {
		r := record(files[i], len(out)/sector, len(files[i+1]), false)
		copy(out[at:], r)
		at += len(r)
		padding := make([]byte, (sector-len(files[i+1])%sector)%sector)
		out = slices.Concat(out, []byte(files[i+1]), padding)
	}
	return out
}

// upload sends a form with fields and a file.
func (f *fixture) upload(t *testing.T, path, field, name string, file []byte, fields ...string) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		must(t, form.WriteField(fields[i], fields[i+1]))
	}
	part, err := form.CreateFormFile(field, name)
	must(t, err)
	_, err = part.Write(file)
	must(t, err)
	must(t, form.Close())
	r := f.request(t, http.MethodPost, path, body.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return f.send(t, r)
}

const uploads = "/nodes/pve1/storage/local/upload"

func TestAnUploadedImageReachesTheGuest(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	data := image("cidata", "user-data", "machine:\n  type: worker\n", "network-config", "version: 1\nconfig:\n- type: physical\n  name: eth0\n  subnets:\n  - {type: static, address: 192.0.2.77/24}\n")
	ok(t, f.await(t, f.upload(t, uploads, "filename", "mgmt cp.iso", data, "content", "iso").Data.(string)))
	listed := f.call(t, "GET", "/nodes/pve1/storage/local/content", "content=iso").list(t)
	if len(listed) != 1 || listed[0]["volid"] != "local:iso/mgmt_cp.iso" || listed[0]["size"] != float64(len(data)) {
		t.Fatalf("on the storage are %v", listed)
	}
	ok(t, f.do(t, "PUT", vm+"/config", "ide2=local:iso/mgmt_cp.iso,media=cdrom"))
	ok(t, f.do(t, "POST", vm+"/status/start"))
	if m := f.machine(t); string(m.UserData) != "machine:\n  type: worker\n" || m.Address.Addr().String() != "192.0.2.77" {
		t.Errorf("the machine has %q, %v", m.UserData, m.Address)
	}
	ok(t, f.do(t, "POST", vm+"/status/stop"))
	ok(t, f.do(t, "DELETE", vm))
	ok(t, f.do(t, "DELETE", "/nodes/pve1/storage/local/content/local:iso%2Fmgmt_cp.iso"))
	if left, err := f.admin.Volumes(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left on the storages: %v, %v", left, err)
	}
}

func TestTheCloudInitDriveGivesTheAddress(t *testing.T) {
	f := start(t, proxmox.Seed{})
	f.cloned(t)
	ok(t, f.do(t, "PUT", vm+"/config", "ide2=local-lvm:cloudinit", "ipconfig0=ip=192.0.2.88/24,gw=192.0.2.1", "nameserver=192.0.2.2 192.0.2.3", "searchdomain=example.com"))
	ok(t, f.do(t, "POST", vm+"/status/start"))
	m := f.machine(t)
	want := `version: 1
config:
    - type: physical
      name: eth0
      mac_address: '` + m.MAC + `'
      subnets:
      - type: static
        address: '192.0.2.88'
        netmask: '255.255.255.0'
        gateway: '192.0.2.1'
    - type: nameserver
      address:
      - '192.0.2.2'
      - '192.0.2.3'
      search:
      - 'example.com'
`
	if diff := cmp.Diff(want, string(m.NetworkData)); diff != "" {
		t.Error(diff)
	}
	if m.Address.String() != "192.0.2.88/24" || m.Gateway.String() != "192.0.2.1" || !strings.HasPrefix(string(m.UserData), "#cloud-config\nhostname: mgmt-cp-0\n") {
		t.Errorf("the machine has %q, %v", m.UserData, m.Address)
	}
}

// TestTheCloudInitDriveAlone: without addresses it names no interface, and a list of name
// servers with commas is one name server that no guest can read.
func TestTheCloudInitDriveAlone(t *testing.T) {
	for name, options := range map[string][]string{
		"no options":        nil,
		"lease":             {"ipconfig0=ip=dhcp"},
		"commas":            {"ipconfig0=ip=192.0.2.88/24,gw=192.0.2.1", "nameserver=192.0.2.2,192.0.2.3"},
		"another interface": {"ipconfig1=ip=192.0.2.88/24"},
	} {
		f := start(t, proxmox.Seed{})
		f.cloned(t)
		ok(t, f.do(t, "PUT", vm+"/config", append([]string{"ide2=local-lvm:cloudinit"}, options...)...))
		ok(t, f.do(t, "POST", vm+"/status/start"))
		if m := f.machine(t); m.Address.String() != "192.0.2.10/24" {
			t.Errorf("%s: the machine has %v by %s", name, m.Address, m.NetworkData)
		}
	}
}

func TestUploadsThatAreRefused(t *testing.T) {
	f := start(t, proxmox.Seed{Storage: []proxmox.Storage{{Name: "disks", Type: "dir", Content: []string{"images"}}}})
	for name, c := range map[string]struct {
		storage, field, file string
		fields               []string
		code                 int
		reason               string
	}{
		"no files there":  {"local-lvm", "filename", "a.iso", []string{"content", "iso"}, 500, "can't upload to storage type 'lvmthin'"},
		"no images there": {"disks", "filename", "a.iso", []string{"content", "iso"}, 500, "storage 'disks' does not support 'iso' content"},
		"no storage":      {"none", "filename", "a.iso", []string{"content", "iso"}, 500, "storage 'none' does not exist"},
		"another name":    {"local", "file", "a.iso", []string{"content", "iso"}, 500, "wrong field name 'file' for file upload, expected 'filename'"},
		"another end":     {"local", "filename", "a.txt", []string{"content", "iso"}, 400, "Parameter verification failed."},
		"snippets":        {"local", "filename", "a.yaml", []string{"content", "snippets"}, 400, "Parameter verification failed."},
		"no content type": {"local", "filename", "a.iso", nil, 400, "Parameter verification failed."},
		"another field":   {"local", "filename", "a.iso", []string{"notes", "x"}, 500, "upload failed"},
	} {
		if a := f.upload(t, "/nodes/pve1/storage/"+c.storage+"/upload", c.field, c.file, []byte("x"), c.fields...); a.code != c.code || a.reason != c.reason {
			t.Errorf("%s: %d %s %v", name, a.code, a.reason, a.Errors)
		}
	}
}
