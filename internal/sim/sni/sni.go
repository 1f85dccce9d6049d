// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package sni passes TLS connections on by the name that their client asks for, without
// decrypting them, as proxies of API servers do.
package sni

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// helloTime is how long a client may take to say which name it wants.
const helloTime = 10 * time.Second

// Proxy passes connections on.
type Proxy struct {
	// Route connects to the server of a name, which is empty if the client names none; an error
	// if there is no such server.
	Route func(ctx context.Context, name string) (net.Conn, error)
	// Default is the certificate that clients of unknown names are shown; nil: their connections
	// are closed.
	Default *tls.Certificate
}

// Serve passes the connections of a listener on until it is closed.
func (p Proxy) Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go p.serve(conn)
	}
}

func (p Proxy) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(helloTime))
	name, read, ok := peek(conn)
	_ = conn.SetReadDeadline(time.Time{})
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), helloTime)
	defer cancel()
	target, err := p.Route(ctx, name)
	if err != nil {
		p.refuse(ctx, &replayed{Conn: conn, first: bytes.NewReader(read)})
		return
	}
	defer func() { _ = target.Close() }()
	if _, err := target.Write(read); err != nil {
		return
	}
	join(conn, target)
}

// refuse shows the default certificate, if there is one.
func (p Proxy) refuse(ctx context.Context, conn net.Conn) {
	if p.Default != nil {
		_ = tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*p.Default}}).HandshakeContext(ctx)
	}
}

// peek reads the first message of a TLS client, and returns the name in it and what was read.
func peek(conn net.Conn) (name string, read []byte, ok bool) {
	r := &recorder{Conn: conn}
	_ = tls.Server(r, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name, ok = hello.ServerName, true
		return nil, errors.New("that is all")
	}}).Handshake()
	return name, r.read.Bytes(), ok
}

// recorder keeps what is read, and sends nothing.
type recorder struct {
	net.Conn
	read bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.read.Write(p[:n])
	return n, err
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }

// replayed begins with what was read before.
type replayed struct {
	net.Conn
	first *bytes.Reader
}

func (r *replayed) Read(p []byte) (int, error) {
	if r.first.Len() > 0 {
		return r.first.Read(p)
	}
	return r.Conn.Read(p)
}

// join copies in both directions until either side ends.
func join(a, b net.Conn) {
	ended := make(chan struct{}, 2)
	one := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go one(a, b)
	go one(b, a)
	<-ended
	_ = a.Close()
	_ = b.Close()
	<-ended
}
