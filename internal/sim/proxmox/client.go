// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Client calls the simulated API with an API token. It is for the operator of a test.
type Client struct {
	access access
	http   *http.Client
}

// Open returns a client for a file that the simulator has written, such as that of its
// administrator.
func Open(file string) (*Client, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &Client{}
	if err := json.Unmarshal(raw, &c.access); err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(c.access.CABundle)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the authority of the simulated platform is not a certificate")
	}
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	return c, nil
}

// Close ends connections that nothing uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call calls the API below /api2/json and reads the data of its answer into out, unless
// that is nil. Parameters are pairs of a name and a value.
func (c *Client) Call(ctx context.Context, method, path string, out any, params ...string) error {
	form := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	address, body := c.access.Endpoint+base+path, ""
	if method == http.MethodGet || method == http.MethodDelete {
		address += "?" + form.Encode()
	} else {
		body = form.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "PVEAPIToken="+c.access.Token+"="+c.access.Secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s %s", method, path, answer.Status, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, &struct{ Data any }{out})
}

// Do calls the API for a task and waits until that has succeeded.
func (c *Client) Do(ctx context.Context, method, path string, params ...string) error {
	var upid string
	if err := c.Call(ctx, method, path, &upid, params...); err != nil || !strings.HasPrefix(upid, "UPID:") {
		return err
	}
	node := strings.Split(upid, ":")[1]
	for {
		var t struct{ Status, ExitStatus string }
		if err := c.Call(ctx, http.MethodGet, "/nodes/"+node+"/tasks/"+url.PathEscape(upid)+"/status", &t); err != nil {
			return err
		}
		if t.Status == "stopped" {
			if t.ExitStatus != "OK" {
				return fmt.Errorf("%s %s: task failed: %s", method, path, t.ExitStatus)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Resource is an entry of the cluster's list.
type Resource struct {
	ID, Type, Node, Name, Status, Tags, Lock string
	VMID, Template                           int
}

// VMs returns all VMs of the cluster that are no templates, each with its name, also one
// that the list does not show yet.
func (c *Client) VMs(ctx context.Context) (out []Resource, err error) {
	var nodes []struct{ Node, Status string }
	if err := c.Call(ctx, http.MethodGet, "/nodes", &nodes); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Status != "online" {
			continue
		}
		var all []Resource
		if err := c.Call(ctx, http.MethodGet, "/nodes/"+n.Node+"/qemu", &all); err != nil {
			return nil, err
		}
		for _, one := range all {
			one.Node = n.Node
			if one.Template == 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// Volume is a disk or an image on a storage.
type Volume struct {
	VolID, Content string
	VMID           int
	Size           int64
	Node           string
}

// Volumes returns all volumes on all storages that are not those of templates. Volumes of
// shared storages are listed once.
func (c *Client) Volumes(ctx context.Context) (out []Volume, err error) {
	var all []struct {
		Node, Storage string
		Shared        int
	}
	if err := c.Call(ctx, http.MethodGet, "/cluster/resources", &all, "type", "storage"); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, s := range all {
		if s.Shared == 1 && seen[s.Storage] {
			continue
		}
		seen[s.Storage] = true
		var volumes []Volume
		if err := c.Call(ctx, http.MethodGet, "/nodes/"+s.Node+"/storage/"+s.Storage+"/content", &volumes); err != nil {
			return nil, err
		}
		for _, v := range volumes {
			v.Node = s.Node
			if name := v.VolID[strings.LastIndexAny(v.VolID, ":/")+1:]; !strings.HasPrefix(name, "base-") {
				out = append(out, v)
			}
		}
	}
	return out, nil
}
