// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// The parts of RFC 1928 that are spoken here.
const (
	socksVersion     = 5
	socksNoAuth      = 0x00
	socksNoMethod    = 0xff
	socksConnect     = 0x01
	socksIPv4        = 0x01
	socksName        = 0x03
	socksIPv6        = 0x04
	socksOK          = 0x00
	socksFailure     = 0x01
	socksUnreachable = 0x04
	socksRefused     = 0x05
	socksExpired     = 0x06
	socksBadCommand  = 0x07
	socksBadAddress  = 0x08

	handshakeTime = 10 * time.Second
)

// ServeSOCKS serves SOCKS5 CONNECT to a source, without authentication, until l is closed, and
// returns nil then. A listener that others than this machine can reach is refused.
func (n *Network) ServeSOCKS(l net.Listener, from Source) error {
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return fmt.Errorf("serve the simulated network on %v: only a loopback address is allowed", l.Addr())
	}
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve the simulated network: %w", err)
		}
		go n.serveClient(conn, from)
	}
}

func (n *Network) serveClient(conn net.Conn, from Source) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	_ = conn.SetDeadline(time.Now().Add(handshakeTime))
	hostport, code := readRequest(conn)
	if code != socksOK {
		refuse(conn, code)
		return
	}
	p, err := n.find(from, "tcp", hostport)
	if err != nil {
		refuse(conn, refusalCode(err))
		return
	}
	if p.listener != nil {
		handOver(ctx, conn, p.listener)
		return
	}
	n.relay(ctx, conn, p)
}

// handOver gives the connection itself to the listener. The reply must go first:
// the listener's side may write at once.
func handOver(ctx context.Context, conn net.Conn, l *listener) {
	if err := reply(conn, socksOK); err != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	_ = l.deliver(ctx, conn) // closes the connection if the listener is gone
}

// relay copies between the client and the real address behind an endpoint.
func (n *Network) relay(ctx context.Context, conn net.Conn, p path) {
	target, err := n.dialTarget(ctx, p)
	if err != nil {
		refuse(conn, replyCode(err))
		return
	}
	defer target.Close()
	defer conn.Close()
	if p.host != nil {
		if target, err = p.host.track(target, target.LocalAddr(), target.RemoteAddr()); err != nil {
			refuse(conn, replyCode(err))
			return
		}
		defer target.Close()
	}
	if reply(conn, socksOK) != nil {
		return
	}
	_ = conn.SetDeadline(time.Time{})
	copyBoth(conn, target)
}

func copyBoth(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyHalf(a, b)
	}()
	copyHalf(b, a)
	<-done
}

// copyHalf ends both connections on a failure: a reset has no half.
func copyHalf(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil || closeWrite(to) != nil {
		_ = to.Close()
		_ = from.Close()
	}
}

// readRequest reads the greeting and the request; code is the reply to a bad one.
func readRequest(conn net.Conn) (hostport string, code byte) {
	if !greet(conn) {
		return "", socksNoMethod
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil || head[0] != socksVersion {
		return "", socksFailure
	}
	host, code := readHost(conn, head[3])
	if code != socksOK {
		return "", code
	}
	var port [2]byte
	if _, err := io.ReadFull(conn, port[:]); err != nil {
		return "", socksFailure
	}
	if head[1] != socksConnect {
		return "", socksBadCommand
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))), socksOK
}

func greet(conn net.Conn) bool {
	var head [2]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil || head[0] != socksVersion {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(conn, methods); err != nil {
		return false
	}
	if !slices.Contains(methods, socksNoAuth) {
		return false
	}
	_, err := conn.Write([]byte{socksVersion, socksNoAuth})
	return err == nil
}

func readHost(conn net.Conn, kind byte) (string, byte) {
	size := map[byte]int{socksIPv4: 4, socksIPv6: 16}[kind]
	if kind == socksName {
		var length [1]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return "", socksFailure
		}
		size = int(length[0])
	}
	if size == 0 {
		return "", socksBadAddress
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(conn, raw); err != nil {
		return "", socksFailure
	}
	if addr, ok := netip.AddrFromSlice(raw); ok && kind != socksName {
		return addr.String(), socksOK
	}
	return string(raw), socksOK
}

// refusalCode reports what is lost on the simulated network as such.
func refusalCode(err error) byte {
	if errors.Is(err, syscall.ETIMEDOUT) {
		return socksExpired
	}
	return replyCode(err)
}

// replyCode takes a real address that does not answer for one that no host has: the
// client learns no more of it.
func replyCode(err error) byte {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.As(err, &dns),
		errors.As(err, &timeout) && timeout.Timeout():
		return socksUnreachable
	}
	return socksFailure
}

func refuse(conn net.Conn, code byte) {
	defer conn.Close()
	if code == socksNoMethod {
		_, _ = conn.Write([]byte{socksVersion, socksNoMethod})
		return
	}
	_ = reply(conn, code)
}

// reply names no bound address: the simulated one means nothing to the client.
func reply(conn net.Conn, code byte) error {
	_, err := conn.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
