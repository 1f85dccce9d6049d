// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"crypto/x509"
	"net/http"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/provider/tag"
)

// openFront serves the API to the limited user: its calls are recorded and may be late
// or fail. Administrator and controllers call the API server itself.
func (h *Harvester) openFront() error {
	forward, err := newForwarder(h.plane.Config())
	if err != nil {
		return err
	}
	past, err := newPast(h.plane.Config(), forward, h.options.Log)
	if err != nil {
		return err
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(h.plane.Config().CAData)
	o := h.options
	h.front, err = front.Serve(front.Options{
		AddressFile: filepath.Join(o.Dir, "front"), Listen: o.Listen, Authority: o.Authority, Hosts: o.Seed.Hosts, ClientCAs: clients,
		API:     fault.API{Classify: classify, Refuse: refuseFault, Pretend: pretend, Past: past, Second: http.HandlerFunc(h.serveSecond)},
		Tags:    func(body []byte) tag.Set { return tag.Style{}.Read(objectIn(body).labels) },
		Content: content,
		Create:  o.Create, Faults: o.Faults, Auditor: o.Auditor, Observe: o.Observe, Network: o.Network, Log: o.Log,
	}, forward)
	return err
}
