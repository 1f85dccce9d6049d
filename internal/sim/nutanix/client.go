// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

// Client calls the simulated API with the access in a file that the simulator has written.
// It is for the operator of a test.
type Client struct {
	access

	http *http.Client
}

// NewClient returns a client for the access in a file.
func NewClient(file string) (*Client, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &Client{}
	if err := json.Unmarshal(raw, &c.access); err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	return c, nil
}

// Close ends the connections of the client.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends a request below the path of the API, and reads the answer into out, unless
// that is nil.
func (c *Client) Call(ctx context.Context, method, path string, body, out any) (status int, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.Endpoint+base+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	r.SetBasicAuth(c.Username, c.Password)
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if out == nil {
		return answer.StatusCode, nil
	}
	return answer.StatusCode, json.NewDecoder(answer.Body).Decode(out)
}

// Listed is an entity that List has found.
type Listed struct {
	UUID, Name, Description, PowerState string
	Categories                          map[string]string
	SystemDefined                       bool // a category of the platform
}

// List returns all entities of a collection, such as vms, as the holder of the access in a
// file sees them.
func List(ctx context.Context, file, collection string) (all []Listed, err error) {
	c, err := NewClient(file)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for {
		var answer struct {
			Metadata struct {
				Total int `json:"total_matches"`
			} `json:"metadata"`
			Entities []shownEntity `json:"entities"`
		}
		status, err := c.Call(ctx, http.MethodPost, collection+"/list", map[string]any{"length": maxLength, "offset": len(all)}, &answer)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("list %s: status %d: %w", collection, status, err)
		}
		for _, e := range answer.Entities {
			all = append(all, e.listed())
		}
		if len(all) >= answer.Metadata.Total || len(answer.Entities) == 0 {
			return all, nil
		}
	}
}

// shownEntity is the part of an entity, or of a category, that List returns.
type shownEntity struct {
	Name          string `json:"name"`
	SystemDefined bool   `json:"system_defined"`
	Metadata      struct {
		UUID       string            `json:"uuid"`
		Categories map[string]string `json:"categories"`
	} `json:"metadata"`
	Description string `json:"description"`
	Status      struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Resources   struct {
			PowerState string `json:"power_state"`
		} `json:"resources"`
	} `json:"status"`
}

func (e shownEntity) listed() Listed {
	return Listed{
		UUID: e.Metadata.UUID, Name: e.Name + e.Status.Name, Description: e.Description + e.Status.Description, PowerState: e.Status.Resources.PowerState,
		Categories: e.Metadata.Categories, SystemDefined: e.SystemDefined,
	}
}
