// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package front is what every simulated API has before its own handler: an address
// that stays the same over restarts, a certificate of the simulator's authority, the
// record of who writes, and the faults and delays of calls.
package front

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/provider/tag"
)

// headerTimeout is how long a client may take for the head of its request.
const headerTimeout = 30 * time.Second

// Options describe one simulated API.
type Options struct {
	// AddressFile keeps the address; empty means that every start has another one.
	AddressFile string
	// Listen is the address of this machine to serve at; the zero value is loopback.
	Listen    netip.Addr
	Authority *Authority
	// Hosts are the names, with or without a port, that clients know the API by.
	Hosts []string
	// ClientCAs verify the certificates of clients that send one.
	ClientCAs *x509.CertPool
	// API classifies calls and answers in the platform's words.
	API fault.API
	// Tags returns what the tags of the object in the body of a request say.
	Tags func(body []byte) tag.Set
	// Content returns what the body of a request writes to the platform, without what may
	// have keys in it there; nil: the body as it is.
	Content func(body []byte) []byte
	// Plain serves without TLS.
	Plain bool
	// HTTP1 does not offer HTTP/2, which has no reason in its status line.
	HTTP1 bool
	// Create is how long the platform takes to answer when a machine is created.
	Create  time.Duration
	Faults  *fault.Injector
	Auditor *audit.Auditor
	// Observe, if set, is called with every request before its fault happens.
	Observe func(*http.Request, fault.Call)
	// Network gets routes to the hosts; nil: none.
	Network *network.Network
	Log     *slog.Logger // nil: none
}

// Server serves one simulated API until it is closed.
type Server struct {
	options  Options
	listener net.Listener
	server   *http.Server
}

// Serve serves the handler behind audit, faults and delays.
func Serve(o Options, next http.Handler) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	security, err := o.Authority.TLS(o.names()...)
	if err != nil {
		return nil, err
	}
	l, err := o.listen()
	if err != nil {
		return nil, err
	}
	if o.ClientCAs != nil {
		security.ClientAuth, security.ClientCAs = tls.VerifyClientCertIfGiven, o.ClientCAs
	}
	s := &Server{options: o, listener: o.Faults.Listen(l)}
	s.server = &http.Server{
		Handler: o.chain(next), TLSConfig: security, ReadHeaderTimeout: headerTimeout,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	if o.HTTP1 {
		s.server.Protocols = new(http.Protocols)
		s.server.Protocols.SetHTTP1(true)
	}
	go s.serve() // ends with Close
	return s, nil
}

func (s *Server) serve() {
	if s.options.Plain {
		_ = s.server.Serve(s.listener)
		return
	}
	_ = s.server.ServeTLS(s.listener, "", "")
}

func (o Options) listen() (net.Listener, error) {
	if o.AddressFile == "" {
		return net.Listen("tcp", netip.AddrPortFrom(o.at(), 0).String())
	}
	return listenAt(o.at(), o.AddressFile)
}

// names are those in the certificate besides loopback.
func (o Options) names() []string {
	names := Names(o.Hosts)
	if o.Listen.IsValid() {
		names = append(names, o.Listen.String())
	}
	return names
}

func (o Options) at() netip.Addr {
	if o.Listen.IsValid() {
		return o.Listen
	}
	return loopback
}

func (o Options) chain(next http.Handler) http.Handler {
	next = fault.Delay(o.Create, o.createsMachine, next)
	return o.observe(o.recordWrites(o.Faults.Handler(o.API, next)))
}

func (o Options) observe(next http.Handler) http.Handler {
	if o.Observe == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.Observe(r, o.API.Classify(r))
		next.ServeHTTP(w, r)
	})
}

func (o Options) createsMachine(r *http.Request) bool {
	c := o.API.Classify(r)
	return c.Verb == fault.Create && c.Resource == fault.Machine
}

// recordWrites reports to the auditor who writes what, before it has an effect.
func (o Options) recordWrites(next http.Handler) http.Handler {
	if o.Auditor == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if call := o.API.Classify(r); call.Writes() && call.Resource != "" {
			content := Body(r)
			o.Auditor.Wrote(audit.Write{
				Agent: r.UserAgent(), Call: call, Content: o.written(content),
				ClusterID: o.Tags(content).ClusterID,
			})
		}
		next.ServeHTTP(w, r)
	})
}

func (o Options) written(body []byte) []byte {
	if o.Content == nil {
		return body
	}
	return o.Content(body)
}

// Address returns where the API is served.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Route makes the API reachable on the simulated network, under its own address and
// under its hosts; a host without a port is served at these ports.
func (s *Server) Route(ports ...string) {
	if s.options.Network == nil {
		return
	}
	target := s.Address()
	s.options.Network.Route(target, target)
	for _, host := range s.options.Hosts {
		if _, _, err := net.SplitHostPort(host); err == nil {
			s.options.Network.Route(host, target)
			continue
		}
		for _, port := range ports {
			s.options.Network.Route(net.JoinHostPort(host, port), target)
		}
	}
}

// Close ends the server and its connections; nil is closed already.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	if err := s.server.Close(); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// bodyLimit is the most that Body reads, and more than any platform accepts.
const bodyLimit = 3 << 20

// Body returns the body of a request, which can still be read afterwards.
func Body(r *http.Request) []byte {
	if r.Body == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(data), r.Body))
	if err != nil {
		return nil
	}
	return data
}

// Names returns hosts without their ports.
func Names(hosts []string) (out []string) {
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		out = append(out, host)
	}
	return out
}
