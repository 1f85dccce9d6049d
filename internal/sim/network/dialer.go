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
	"os"
	"strconv"
	"syscall"
	"time"
)

// Dialer returns a dial function that connects through the SOCKS5 server at
// socksAddr and through nothing else. Names are not looked up on this side. The
// errors are those of Network.DialFrom: EHOSTUNREACH, also for an unknown name,
// ECONNREFUSED and ETIMEDOUT.
func Dialer(socksAddr string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialThrough(ctx, socksAddr, network, addr)
		if err != nil {
			return nil, dialError(network, addr, err)
		}
		return conn, nil
	}
}

func dialThrough(ctx context.Context, socksAddr, network, addr string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, net.UnknownNetworkError(network)
	}
	request, err := connectRequest(addr)
	if err != nil {
		return nil, err
	}
	conn, err := dialLoopback(ctx, new(net.Dialer).DialContext, socksAddr)
	if err != nil {
		// Whether the far side would answer is unknown: the errno must not look like its answer.
		return nil, errors.New("the simulated network does not answer; is its simulator running? (" + err.Error() + ")")
	}
	if err := handshake(ctx, conn, request); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// handshake ends early when ctx does: reads and writes fail from then on.
func handshake(ctx context.Context, conn net.Conn, request []byte) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := exchange(conn, request)
	if !stop() {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

func exchange(conn net.Conn, request []byte) error {
	if _, err := conn.Write([]byte{socksVersion, 1, socksNoAuth}); err != nil {
		return err
	}
	var method [2]byte
	if _, err := io.ReadFull(conn, method[:]); err != nil {
		return err
	}
	if method != [2]byte{socksVersion, socksNoAuth} {
		return fmt.Errorf("%v is not the SOCKS server of a simulated network", conn.RemoteAddr())
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	var answer [10]byte // this server names IPv4 0.0.0.0:0 as the bound address
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	return answerError(answer[1])
}

func answerError(code byte) error {
	switch code {
	case socksOK:
		return nil
	case socksUnreachable:
		return os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	case socksRefused:
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case socksExpired:
		return lost()
	}
	return fmt.Errorf("the simulated network refused the connection with SOCKS code %#02x", code)
}

func connectRequest(addr string) ([]byte, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || len(host) > 255 || host == "" {
		return nil, &net.AddrError{Err: "not a host and a port number", Addr: addr}
	}
	request := append([]byte{socksVersion, socksConnect, 0}, requestHost(host)...)
	return append(request, byte(port>>8), byte(port)), nil
}

func requestHost(host string) []byte {
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return append([]byte{socksName, byte(len(host))}, host...)
	case ip.Unmap().Is4():
		return append([]byte{socksIPv4}, ip.Unmap().AsSlice()...)
	}
	return append([]byte{socksIPv6}, ip.AsSlice()...)
}
