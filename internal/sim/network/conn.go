// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how much one end may write before the other has to read.
const window = 64 << 10

// hostConn is a connection that ends with its host and shows simulated addresses.
type hostConn struct {
	net.Conn
	host          *Host
	local, remote net.Addr
}

func (c *hostConn) LocalAddr() net.Addr  { return c.local }
func (c *hostConn) RemoteAddr() net.Addr { return c.remote }

func (c *hostConn) Close() error {
	c.host.untrack(c)
	return c.Conn.Close()
}

func (c *hostConn) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite signals to the far end that no more comes, where the connection can.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}

// memoryConn is one end of a connection in memory. Unlike net.Pipe it buffers, as
// sockets do: protocols whose ends both write first would hang otherwise.
type memoryConn struct {
	in, out       *stream
	local, remote net.Addr
}

func pipe(client, server net.Addr) (near, far *memoryConn) {
	up, down := newStream(), newStream()
	return &memoryConn{in: down, out: up, local: client, remote: server},
		&memoryConn{in: up, out: down, local: server, remote: client}
}

func (c *memoryConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *memoryConn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *memoryConn) LocalAddr() net.Addr         { return c.local }
func (c *memoryConn) RemoteAddr() net.Addr        { return c.remote }
func (c *memoryConn) CloseWrite() error           { c.out.update(func() { c.out.ended = true }); return nil }
func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}
func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

func (c *memoryConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memoryConn) Close() error {
	c.in.update(func() { c.in.unread = true })
	c.out.update(func() { c.out.ended, c.out.shut = true, true })
	c.in.setDeadline(&c.in.readBy, time.Time{})
	c.out.setDeadline(&c.out.writeBy, time.Time{})
	return nil
}

// stream is one direction of a connection.
type stream struct {
	mu      sync.Mutex
	changed *sync.Cond
	buf     bytes.Buffer
	ended   bool // the writer writes no more
	shut    bool // the writer closed its end
	unread  bool // the reader closed its end

	readBy, writeBy deadline
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.update(func() {
		if d.timer != nil {
			d.timer.Stop()
		}
		*d = deadline{at: t}
		if !t.IsZero() {
			d.timer = time.AfterFunc(time.Until(t), func() { s.update(func() {}) })
		}
	})
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.unread:
			return 0, net.ErrClosed
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case s.buf.Len() > 0:
			n, _ := s.buf.Read(p)
			s.changed.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		if err := s.writeError(); err != nil {
			return written, err
		}
		n, _ := s.buf.Write(p[written:min(len(p), written+window-s.buf.Len())])
		written += n
		s.changed.Broadcast()
		if written == len(p) {
			return written, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) writeError() error {
	switch {
	case s.shut:
		return net.ErrClosed
	case s.ended, s.unread:
		return os.NewSyscallError("write", syscall.EPIPE)
	case s.writeBy.passed():
		return os.ErrDeadlineExceeded
	}
	return nil
}
