// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/nocloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	contentISO = "iso"
	isoPrefix  = "butler_"
)

// isoName is the name of the ISO image of a machine. It has the owner in it: a volume has no
// tags.
func isoName(ref provider.MachineRef) string {
	o := ref.Owner
	return fmt.Sprintf("%s%s_%s_%s_%s.iso", isoPrefix, ref.Name, o.Cluster, o.ID, o.ClusterID)
}

// isoOwner is the inverse of isoName, for a volume.
func isoOwner(volid string) tag.Set {
	name := volid[strings.LastIndex(volid, "/")+1:]
	parts := strings.Split(strings.TrimSuffix(name, ".iso"), "_")
	if !strings.HasPrefix(name, isoPrefix) || len(parts) != 5 {
		return tag.Set{}
	}
	return tag.Set{Machine: parts[1], Cluster: parts[2], OwnerID: parts[3], ClusterID: parts[4]}
}

// isos are the ISO images on all storages that can be read, and those that cannot.
type isos struct {
	all    []volume
	unread []string
}

func (p *platform) readISOs(ctx context.Context, _ []string) (isos, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return isos{}, err
	}
	all, unread, err := machines{p}.readVolumes(ctx, c, contentISO)
	return isos{all, unread}, err
}

// isosOf are the ISO images of a machine, whatever the name of its cluster.
func (m machines) isosOf(ctx context.Context, ref provider.MachineRef) (found []volume, unread []string, err error) {
	read, err := m.stored.Do(ctx, ref.Name)
	for _, v := range read.all {
		if s := isoOwner(v.VolID); ref.Owner.ID != "" && s.OwnerID == ref.Owner.ID && s.Machine == ref.Name {
			found = append(found, v)
		}
	}
	return found, read.unread, err
}

// deleteISOs removes the ISO images of a machine, and reports whether some are left, and which
// storages could not be read.
func (m machines) deleteISOs(ctx context.Context, op string, ref provider.MachineRef) (left bool, unread []string, err error) {
	all, unread, err := m.isosOf(ctx, ref)
	for _, v := range all {
		if err := m.deleteVolume(ctx, v); err != nil {
			return true, nil, within(op, err)
		}
	}
	return len(all) > 0, unread, within(op, err)
}

// iso returns the ISO image of a VM if it is on one of the storages, empty otherwise.
func (v vm) iso(storages []string) string {
	for _, d := range v.settings.drives() {
		for _, s := range storages {
			if isoOwner(d.first).OwnerID != "" && strings.HasPrefix(s, d.storage()+" on ") {
				return d.first
			}
		}
	}
	return ""
}

// isoStorage is where ISO images for a node are uploaded: a shared storage before others.
func (m machines) isoStorage(c *cluster, node string) (string, bool) {
	var all []resource
	for _, r := range c.storages {
		if r.Node == node && r.holds(contentISO) && r.active() {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return "", false
	}
	slices.SortFunc(all, func(a, b resource) int {
		if a.Shared != b.Shared {
			return int(b.Shared - a.Shared)
		}
		return strings.Compare(a.Storage, b.Storage)
	})
	return all[0].Storage, true
}

// errISO is the refusal of user data without a place for it.
func errISO(op, node string) error {
	return provider.Invalid.New(op, reasonNoISO, fmt.Errorf("node %s has no storage for ISO images, which carry user data and network data: snippets cannot be uploaded through the API", node),
		"allow the content iso on a storage of the node and grant Datastore.AllocateTemplate on it, or leave out userData and networkData")
}

// needsISO reports whether a machine needs a drive that Proxmox VE does not write. Such a drive
// has the address of the machine too.
func needsISO(s provider.MachineSpec) bool { return s.UserData != "" || s.NetworkData != "" }

// ensureISO uploads the user data of a machine, and returns its volume once it is there.
func (m machines) ensureISO(ctx context.Context, op string, s provider.MachineSpec, c *cluster, v *vm) (volid string, ready bool, err error) {
	if !needsISO(s) {
		return "", true, nil
	}
	storage, ok := m.isoStorage(c, v.Node)
	if !ok {
		return "", false, errISO(op, v.Node)
	}
	content := driveImage(s)
	there, _, err := m.isosOf(ctx, s.MachineRef)
	if err != nil {
		return "", false, within(op, err)
	}
	for _, have := range there {
		if have.store == storage && int(have.Size) == len(content) {
			return have.VolID, true, nil
		}
	}
	return "", false, within(op, m.upload(ctx, v.Node, storage, isoName(s.MachineRef), content))
}

// driveImage is the image that cloud-init and Talos read user data from.
func driveImage(s provider.MachineSpec) []byte {
	files := []file{{"meta-data", "instance-id: " + s.Owner.ID + "\nlocal-hostname: " + s.Name + "\n"}, {"user-data", nocloud.UserData(s.UserData).Reveal()}}
	if network := nocloud.NetworkData(s, macOf(s.Owner.ID)); network != "" {
		files = append(files, file{"network-config", network.Reveal()})
	}
	return image("cidata", files)
}

// upload sends an ISO image to a storage. Proxmox VE puts it in place with a task, and replaces
// one of that name.
func (m machines) upload(ctx context.Context, node, storage, name string, content []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("content", contentISO); err != nil {
		return err
	}
	part, err := form.CreateFormFile("filename", name)
	if err != nil {
		return err
	}
	if _, err := part.Write(content); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/nodes/"+node+"/storage/"+storage+"/upload", bytes.NewReader(body.Bytes()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := m.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
