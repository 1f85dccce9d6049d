// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// router is where the API server sends what is meant for pods: a CONNECT proxy
// that knows the addresses of the tests.
type router struct {
	dir, config string
	listener    net.Listener
	mu          sync.Mutex
	routes      map[string]string // address of a pod -> real address
}

func newRouter() (*router, error) {
	dir, err := os.MkdirTemp("", "egress")
	if err != nil {
		return nil, err
	}
	r := &router{dir: dir, config: filepath.Join(dir, "egress.yaml"), routes: map[string]string{}}
	socket := filepath.Join(dir, "socket")
	text := fmt.Sprintf(`
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: %s}}
`, socket)
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if r.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "unix", socket); err != nil {
		return nil, err
	}
	go r.serve()
	return r, nil
}

func (r *router) close() {
	_ = r.listener.Close()
	_ = os.RemoveAll(r.dir)
}

// route leads an address of a pod to a real one; an empty one leads nowhere.
func (r *router) route(pod, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routes[pod] = address
}

func (r *router) serve() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.tunnel(c)
	}
}

func (r *router) tunnel(c net.Conn) {
	defer c.Close()
	reader := bufio.NewReader(c)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	r.mu.Lock()
	address := r.routes[request.Host]
	r.mu.Unlock()
	far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
	if address == "" || err != nil {
		fmt.Fprint(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		return
	}
	defer far.Close()
	fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, reader) }()
	_, _ = io.Copy(c, far)
}
