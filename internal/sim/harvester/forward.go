// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
)

// forwarder carries requests to the API server. Who shows a certificate of its
// authority is named to it by the administrator, and has his own rights alone; a
// token goes along as it is.
type forwarder struct{ named, plain *httputil.ReverseProxy }

func newForwarder(admin *rest.Config) (*forwarder, error) {
	target, err := url.Parse(admin.Host)
	if err != nil {
		return nil, err
	}
	named, err := rest.TransportFor(admin)
	if err != nil {
		return nil, err
	}
	plain, err := rest.TransportFor(rest.AnonymousClientConfig(admin))
	if err != nil {
		return nil, err
	}
	return &forwarder{
		named: reverseProxy(target, named, func(r *httputil.ProxyRequest) {
			subject := r.In.TLS.PeerCertificates[0].Subject
			r.Out.Header.Del("Authorization")
			r.Out.Header.Set(authenticationv1.ImpersonateUserHeader, subject.CommonName)
			r.Out.Header[authenticationv1.ImpersonateGroupHeader] = subject.Organization
		}),
		plain: reverseProxy(target, plain, func(*httputil.ProxyRequest) {}),
	}, nil
}

func reverseProxy(target *url.URL, transport http.RoundTripper, identify func(*httputil.ProxyRequest)) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			identify(r)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, r, http.StatusServiceUnavailable, err.Error())
		},
	}
}

// ServeHTTP forwards a request as its caller. The body is read first: a proxy may wait for
// ever if it is answered while it still passes a body on.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if len(r.TLS.PeerCertificates) == 0 {
		f.plain.ServeHTTP(w, r)
		return
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			refuse(w, r, http.StatusForbidden, "acting as another user is not simulated")
			return
		}
	}
	f.named.ServeHTTP(w, r)
}
