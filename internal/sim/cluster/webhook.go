// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// longestReview bounds what a webhook reads.
const longestReview = 16 << 20

// webhooks is the server in all pods.
type webhooks struct {
	*http.Server
	faults *fault.Injector
	ca     pki.CA

	mu           sync.Mutex
	certificates map[string]*tls.Certificate // by name
}

func newWebhooks(faults *fault.Injector, ca pki.CA) *webhooks {
	w := &webhooks{faults: faults, ca: ca, certificates: map[string]*tls.Certificate{}}
	w.Server = &http.Server{
		Handler:           http.HandlerFunc(w.serve),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, callKey{}, c.(*tls.Conn).NetConn().(*call))
		},
	}
	w.SetKeepAlivesEnabled(false) // each call finds a pod that is there
	return w
}

type callKey struct{}

// Serve answers on the calls that l accepts.
func (w *webhooks) Serve(l net.Listener) error {
	return w.Server.Serve(tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: w.certificate}))
}

// certificate is one for the name that is asked for.
func (w *webhooks) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.certificates[hello.ServerName]; c != nil {
		return c, nil
	}
	request := pki.Request{CommonName: "emulated-webhook", Server: true}
	if hello.ServerName != "" {
		request.Names = []string{hello.ServerName}
	}
	pair, err := w.ca.Issue(request)
	if err != nil {
		return nil, err
	}
	c, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	w.certificates[hello.ServerName] = &c
	return &c, nil
}

// serve passes a call on to the program of its pod, if that has webhooks and the fault plan
// does not have its addon refuse.
func (w *webhooks) serve(out http.ResponseWriter, in *http.Request) {
	c := in.Context().Value(callKey{}).(*call)
	_, refuses := w.faults.AddonFails(fault.WebhookRefuses, c.pod.Annotations[standin.Addon])
	if c.hooks == "" || refuses {
		w.answer(out, in, c.pod)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: c.hooks}) },
		ErrorLog: log.New(io.Discard, "", 0),
	}
	proxy.ServeHTTP(out, in)
}

// answer allows what it is asked, unless the fault plan has the pod's addon refuse.
func (w *webhooks) answer(out http.ResponseWriter, in *http.Request, pod *corev1.Pod) {
	if in.Method != http.MethodPost {
		http.Error(out, "a webhook takes POST", http.StatusMethodNotAllowed)
		return
	}
	var review admissionv1.AdmissionReview
	err := json.NewDecoder(http.MaxBytesReader(out, in.Body, longestReview)).Decode(&review)
	if err != nil || review.Request == nil || review.APIVersion != admissionv1.SchemeGroupVersion.String() {
		http.Error(out, "want an AdmissionReview of "+admissionv1.SchemeGroupVersion.String(), http.StatusBadRequest)
		return
	}
	review.Response = w.verdict(pod, review.Request)
	review.Request = nil
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(review)
}

func (w *webhooks) verdict(pod *corev1.Pod, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	addon, ok := pod.Annotations[standin.Addon]
	if !ok {
		return response
	}
	if _, ails := w.faults.AddonFails(fault.WebhookRefuses, addon); ails {
		response.Allowed = false
		response.Result = &metav1.Status{
			Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: fmt.Sprintf("the fault plan has the webhooks of %s refuse everything", addon),
		}
	}
	return response
}
