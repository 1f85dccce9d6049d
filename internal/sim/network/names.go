// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is where the names of the network are looked up, by DNS over TCP.
var nameServer = netip.MustParseAddrPort("192.0.2.53:53")

// Resolver returns one that asks the name server of the network behind the SOCKS5 server at
// socksAddr, and no other.
func Resolver(socksAddr string) *net.Resolver {
	dial := Dialer(socksAddr)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, "tcp", nameServer.String())
	}}
}

// ServeNames answers questions for the addresses of names until the network ends.
func (n *Network) ServeNames() error {
	host, err := n.Attach(nameServer.Addr())
	if err != nil {
		return err
	}
	l, err := host.Listen(nameServer.Port())
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go n.answerNames(conn)
	}
}

func (n *Network) answerNames(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var size uint16
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		answer, err := n.answerName(question)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answerName answers a message with one question.
func (n *Network) answerName(message []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(message); err != nil {
		return nil, err
	}
	if len(m.Questions) != 1 {
		return nil, errors.New("one question is expected")
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	addrs, known := n.lookUp(q.Name.String())
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		if q.Type == dnsmessage.TypeA && a.Is4() {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}, Body: &dnsmessage.AResource{A: a.As4()},
			})
		}
	}
	return m.Pack()
}

// lookUp returns the addresses of a name, and whether there is such a name.
func (n *Network) lookUp(name string) (out []netip.Addr, known bool) {
	n.mu.Lock()
	records := slices.Clone(n.names[strings.ToLower(strings.TrimSuffix(name, "."))])
	n.mu.Unlock()
	for _, r := range records {
		out = append(out, r.addrs()...)
	}
	return out, len(records) > 0
}
