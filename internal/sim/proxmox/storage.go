// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// seesStorage needs the right to see a storage.
func seesStorage(c *call) error {
	return c.needAny("/storage/"+c.params["storage"], "Datastore.Audit", "Datastore.AllocateSpace")
}

// listStorages lists the storages of the cluster's configuration.
func listStorages(c *call) (any, error) {
	out := []any{}
	for i := range c.seed.Storage {
		s := &c.seed.Storage[i]
		if c.needAny("/storage/"+s.Name, "Datastore.Audit", "Datastore.AllocateSpace") != nil || c.params["type"] != "" && c.params["type"] != s.Type {
			continue
		}
		out = append(out, c.storageConfig(s))
	}
	return out, nil
}

func (c *call) storageConfig(s *Storage) map[string]any {
	out := map[string]any{"storage": s.Name, "type": s.Type, "content": s.contentText(), "digest": "5a1c5a8e4f8e4f2e9f3b1f8f1d2c3b4a59687786"}
	if s.Shared {
		out["shared"] = 1
	}
	if len(s.Nodes) > 0 {
		out["nodes"] = strings.Join(s.Nodes, ",")
	}
	if s.Disabled {
		out["disable"] = 1
	}
	return out
}

func getStorage(c *call) (any, error) {
	s := c.storage(c.params["storage"])
	if s == nil {
		return nil, fail("storage '%s' does not exist", c.params["storage"])
	}
	return c.storageConfig(s), nil
}

// listNodeStorages lists the storages of a node with their free space.
func listNodeStorages(c *call) (any, error) {
	out := []any{}
	for i := range c.seed.Storage {
		s := &c.seed.Storage[i]
		if c.needAny("/storage/"+s.Name, "Datastore.Audit", "Datastore.AllocateSpace") != nil || !c.wanted(s) {
			continue
		}
		one := c.storageStatus(s, c.at())
		one["storage"] = s.Name
		out = append(out, one)
	}
	return out, nil
}

// wanted reports whether a storage fits the filters of a call.
func (c *call) wanted(s *Storage) bool {
	if !s.at(c.at()) || c.params["storage"] != "" && c.params["storage"] != s.Name || c.params["enabled"] == "1" && s.Disabled {
		return false
	}
	if target := c.params["target"]; target != "" && target != c.at() && (!s.Shared || !s.at(target)) {
		return false
	}
	wanted := splitList(c.params["content"])
	return len(wanted) == 0 || slices.ContainsFunc(wanted, s.has)
}

func (c *call) storageStatus(s *Storage, node string) map[string]any {
	total, used := c.usage(s, node)
	out := map[string]any{
		"type": s.Type, "content": s.contentText(), "enabled": 1, "active": 1, "shared": map[bool]int{true: 1}[s.Shared], "total": total, "used": used, "avail": total - used,
		"used_fraction": float64(used) / float64(total),
	}
	if s.Disabled {
		out["enabled"], out["active"], out["total"], out["used"], out["avail"] = 0, 0, 0, 0, 0
	}
	return out
}

func getStorageStatus(c *call) (any, error) {
	s := c.storage(c.params["storage"])
	if s == nil || !s.at(c.at()) {
		return nil, wrongParam("storage", "No such storage.")
	}
	out := c.storageStatus(s, c.at())
	delete(out, "used_fraction")
	return out, nil
}

// listVolumes lists what is on a storage, as far as the caller may see it.
func listVolumes(c *call) (any, error) {
	s, err := c.storageFor(c.params["storage"], c.at())
	if err != nil {
		return nil, err
	}
	if s.Offline {
		return nil, fail("storage '%s' is not online", s.Name)
	}
	out := []any{}
	for _, v := range c.st.volumes.All() {
		switch {
		case v.Storage != s.Name || v.Node != "" && v.Node != c.at():
		case c.params["content"] != "" && c.params["content"] != v.Content:
		case c.params["vmid"] != "" && c.number("vmid", 0) != v.VMID:
		case c.allowVolume(v.ID, 0) != nil:
		default:
			out = append(out, v.show(s))
		}
	}
	return out, nil
}

func (v *volume) show(s *Storage) map[string]any {
	out := map[string]any{"volid": v.ID, "content": v.Content, "format": v.Format, "size": v.Bytes}
	if s.dates() {
		out["ctime"] = v.Created.Unix()
	}
	if v.VMID != 0 {
		out["vmid"] = v.VMID
	}
	if v.Parent != "" {
		out["parent"] = v.Parent
	}
	return out
}

// volumeID is the volume that a call names, with or without its storage.
func (c *call) volumeID() (string, error) {
	id, storage := c.params["volume"], c.params["storage"]
	of, _, whole := strings.Cut(id, ":")
	switch {
	case whole && storage != "" && of != storage:
		return "", wrongParam("volume", "storage ID mismatch (%s != %s)", of, storage)
	case whole:
		return id, nil
	}
	return storage + ":" + id, nil
}

func getVolume(c *call) (any, error) {
	id, err := c.volumeID()
	if err != nil {
		return nil, err
	}
	if err := c.allowVolume(id, 0); err != nil {
		return nil, err
	}
	v := c.st.volumeAt(id, c.at())
	if v == nil {
		return nil, fail("volume_size_info on '%s' failed - no format", id)
	}
	return map[string]any{"path": "/var/lib/vz/" + strings.ReplaceAll(id, ":", "/"), "size": v.Bytes, "used": v.Bytes, "format": v.Format}, nil
}

// removeVolume begins to delete a volume. One that does not exist is found out in the task.
func removeVolume(c *call) (any, error) {
	id, err := c.volumeID()
	if err != nil {
		return nil, err
	}
	s, err := c.storageFor(storageName(id), c.at())
	if err != nil {
		return nil, err
	}
	if err := c.need("/storage/"+s.Name, "Datastore.Allocate"); err != nil {
		return nil, err
	}
	of := s.Name
	if owner := ownerOf(id); owner != 0 {
		of = diskOwner.FindStringSubmatch(id)[1] + "@" + s.Name
	}
	return c.fork("imgdel", of, map[string]string{"volume": id}), nil
}

func endRemoveVolume(p *PVE, t *task) error {
	id := t.Params["volume"]
	v := p.st.volumeAt(id, t.Node)
	switch {
	case v == nil && strings.Contains(id, ":iso/"):
		return fail("unlink '/var/lib/vz/template/%s' failed - No such file or directory", id[strings.Index(id, ":")+1:])
	case v == nil: // block storages do not complain
	case p.linked(v):
		return fail("base volume '%s' is still in use by linked clones", id)
	default:
		p.free(v)
	}
	t.print("Removed volume '%s'", id)
	return nil
}

// upload is a file that came with a request.
type upload struct{ data []byte }

func storageOf(path string) string {
	words := strings.Split(path, "/")
	if len(words) < 5 {
		return ""
	}
	return words[4]
}

// readUpload reads a form with a file. Fields come before the file, which has the name
// filename.
func (c *call) readUpload(r *http.Request, kind, boundary string) (map[string]string, error) {
	if kind != "multipart/form-data" || boundary == "" {
		return nil, fail("upload 'Content-Type '%s' not implemented", r.Header.Get("Content-Type"))
	}
	params := map[string]string{}
	form := multipart.NewReader(r.Body, boundary)
	for {
		part, err := form.NextPart()
		if err != nil {
			return nil, server(http.StatusInternalServerError, "upload failed")
		}
		data, err := io.ReadAll(part)
		switch name := part.FormName(); {
		case err != nil:
			return nil, server(http.StatusInternalServerError, "upload failed")
		case part.FileName() != "" && name != "filename":
			return nil, server(http.StatusInternalServerError, "wrong field name '%s' for file upload, expected 'filename'", name)
		case part.FileName() != "":
			params["filename"], c.file = part.FileName(), &upload{data}
			return params, nil
		case name == "content" || name == "checksum" || name == "checksum-algorithm":
			params[name] = strings.TrimSpace(string(data))
		default:
			return nil, server(http.StatusInternalServerError, "upload failed")
		}
	}
}

var (
	unsafeName = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)
	isoName    = regexp.MustCompile(`(?i)[^/]+\.(?:iso|img)$`)
)

// allocVolume creates a volume that no VM has.
func allocVolume(c *call) (any, error) {
	s, err := c.storageFor(c.params["storage"], c.at())
	if err != nil {
		return nil, err
	}
	name, vmid := c.params["filename"], c.params["vmid"]
	if !strings.HasPrefix(name, "vm-"+vmid+"-") {
		return nil, fail("illegal name '%s' - should be 'vm-%s-*'", name, vmid)
	}
	id, err := strconv.Atoi(vmid)
	if err != nil {
		return nil, wrongParam("vmid", "type check ('integer') failed - got '%s'", vmid)
	}
	v := c.newVolume(&guest{VMID: id, Node: c.at()}, s, "vm", parseSize(c.params["size"]))
	if v.ID = volumeID(s, id, name); c.volumeNamed(v.ID, v.Node) {
		return nil, fail("volume '%s' already exists", v.ID)
	}
	return v.ID, c.alloc(v, s)
}

// uploadFile begins to move an uploaded file to a storage. One of that name is replaced.
func uploadFile(c *call) (any, error) {
	s, err := c.storageFor(c.params["storage"], c.at())
	if err != nil {
		return nil, err
	}
	if n := c.node(c.at()); n == nil || n.Offline {
		return nil, fail("can't activate storage '%s' on node '%s': command '/usr/bin/ssh' failed: exit code 255", s.Name, c.at())
	}
	if s.Offline {
		return nil, fail("storage '%s' is not online", s.Name)
	}
	if !s.onFiles() {
		return nil, fail("can't upload to storage type '%s'", s.Type)
	}
	if c.file == nil {
		return nil, fail("missing temporary file name")
	}
	name := unsafeName.ReplaceAllString(c.params["filename"][strings.LastIndexAny(c.params["filename"], `/\`)+1:], "_")
	content := c.params["content"]
	if content == "iso" && !isoName.MatchString(name) {
		return nil, wrongParam("filename", "wrong file extension")
	}
	if content != "iso" {
		return nil, fail("the simulated platform takes iso images alone")
	}
	if !s.has(content) {
		return nil, fail("storage '%s' does not support '%s' content", s.Name, content)
	}
	staged := uuid.NewString()
	v := &volume{ID: s.Name + ":iso/" + name, Storage: s.Name, Content: "iso", Format: "iso", Bytes: int64(len(c.file.data)), Created: time.Now(), Data: c.file.data}
	v.Owner.OwnerID = ownerInName(name)
	if !s.Shared {
		v.Node = c.at()
	}
	c.staged[staged] = v
	return c.fork("imgcopy", "", map[string]string{"staged": staged, "storage": s.Name}), nil
}

func endUpload(p *PVE, t *task) error {
	v := p.staged[t.Params["staged"]]
	if v == nil {
		return fail("temporary file does not exist")
	}
	delete(p.staged, t.Params["staged"])
	total, used := p.usage(p.storage(v.Storage), v.Node)
	if used+v.Bytes > total {
		return fail("import failed: cp: error writing '/var/lib/vz/template/%s': No space left on device", v.ID[strings.Index(v.ID, ":")+1:])
	}
	t.print("file size is: %d", v.Bytes)
	if before := p.st.volumes.ByID[v.key()]; before != nil && v.Owner.OwnerID == "" {
		v.Owner = before.Owner
	}
	p.st.volumes.Put(v.key(), v)
	p.auditVolume(v)
	t.print("finished file import successfully")
	return nil
}
