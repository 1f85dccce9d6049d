// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admission "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	gateAddress = "10.96.77.77"
	gatePod     = "10.77.77.77"
)

// gateFiles are a chart whose webhook judges the ConfigMaps of its namespace.
func gateFiles() map[string]string {
	const address = `
apiVersion: v1
kind: Service
metadata: {name: gate}
spec: {clusterIP: %[1]s, ports: [{port: 443, targetPort: 9443}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gate}
spec: {%[3]s}
---
apiVersion: v1
kind: Endpoints
metadata: {name: gate}
subsets: [{addresses: [{ip: %[2]s, targetRef: {kind: Pod, name: gate, namespace: "{{ .Release.Namespace }}"}}], ports: [{port: 9443}]}]
`
	return map[string]string{
		"templates/service.yaml": fmt.Sprintf(address, gateAddress, gatePod, container),
		"templates/gate.yaml": `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: "{{ .Release.Namespace }}"}
webhooks:
- name: gate.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: "{{ .Release.Namespace }}", name: gate, path: /judge}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "{{ .Release.Namespace }}"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}]
`,
	}
}

func (l *lab) gated() addon.Addon {
	l.stock(l.key("gate"), "1.0.0", gateFiles())
	return l.chart("gate", "1.0.0", func(a *addon.Addon) {
		a.Ready.Webhooks = []addon.Ref{{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Name: l.namespace}}
		a.Objects = []*unstructured.Unstructured{objectOf("{apiVersion: v1, kind: ConfigMap, metadata: {name: guest}}")}
	})
}

// TestObjectsFollowOnceTheirWebhookAnswers goes through all that a webhook needs,
// one after the other.
func TestObjectsFollowOnceTheirWebhookAnswers(t *testing.T) {
	l := newLab(t)
	l.kubelet(func(p *corev1.Pod) {
		start(p)
		p.Status.PodIP, p.Status.PodIPs = gatePod, []corev1.PodIP{{IP: gatePod}}
	})
	a := l.gated()
	l.awaitMessage(v1alpha1.AddonWaiting, "webhook gate.example.com has no CA bundle yet", a)

	var open atomic.Bool
	server, bundle := l.judge(&open)
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}})
	if err != nil {
		t.Fatal(err)
	}
	configurations := l.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	t.Cleanup(func() { _ = configurations.Delete(t.Context(), l.namespace, metav1.DeleteOptions{}) })
	if _, err := configurations.Patch(t.Context(), l.namespace, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitMessage(v1alpha1.AddonWaiting, "service "+l.namespace+"/gate does not answer", a)

	egress.route(gateAddress+":443", server)
	egress.route(gatePod+":9443", server)
	l.awaitMessage(v1alpha1.AddonFailing, "no guests today", a)
	if _, err := l.client.CoreV1().ConfigMaps(l.namespace).Get(t.Context(), "guest", metav1.GetOptions{}); err == nil {
		t.Error("what was refused is there")
	}
	fetched := l.fetches()
	open.Store(true)
	l.awaitReady(a)
	if l.fetches() != fetched {
		t.Error("the chart was applied again, although only what follows it was refused")
	}
	if _, err := l.client.CoreV1().ConfigMaps(l.namespace).Get(t.Context(), "guest", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func (l *lab) awaitMessage(phase v1alpha1.AddonPhase, text string, a addon.Addon) {
	l.Helper()
	l.await("it is "+string(phase)+": "+text, []addon.Addon{a}, func(s []State) bool {
		return s[0].Phase == phase && strings.Contains(s[0].Message, text)
	})
}

// judge serves a webhook that lets objects in while it is open, and returns its
// address and the bundle to know it by.
func (l *lab) judge(open *atomic.Bool) (address string, bundle []byte) {
	l.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := admission.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admission.AdmissionResponse{UID: review.Request.UID, Allowed: open.Load(), Result: &metav1.Status{Message: "no guests today"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	certificate, bundle := l.selfSigned("gate." + l.namespace + ".svc")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	l.Cleanup(server.Close)
	return server.Listener.Addr().String(), bundle
}

func (l *lab) selfSigned(name string) (tls.Certificate, []byte) {
	l.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		l.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		l.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestAnswerOfTheFarSideCounts distinguishes answers of a webhook from those that the
// API server gives in its place.
func TestAnswerOfTheFarSideCounts(t *testing.T) {
	for reason, c := range map[string]struct {
		code   int
		body   string
		silent string
	}{
		"a webhook that only takes reviews": {http.StatusBadRequest, "no review", ""},
		"a webhook with other paths":        {http.StatusNotFound, "404 page not found", ""},
		"a webhook that is broken answers":  {http.StatusInternalServerError, "{}", ""},
		"a review":                          {http.StatusOK, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, ""},
		"the API server finds no pod": {
			http.StatusServiceUnavailable, `{"kind":"Status","apiVersion":"v1","message":"no endpoints available","code":503}`, "no endpoints available",
		},
		"the API server knows no such service": {
			http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","message":"services \"gate\" not found","code":404}`, `services "gate" not found`,
		},
	} {
		t.Run(reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if want := "/api/v1/namespaces/tea/services/https:gate:8443/proxy/judge"; r.URL.Path != want {
					t.Errorf("asked for %s; want %s", r.URL.Path, want)
				}
				w.WriteHeader(c.code)
				_, _ = fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			silent, err := connected(t, server.URL).silent(t.Context(), serviceAt("tea", "gate", 8443, "/judge"))
			if err != nil || silent != c.silent {
				t.Errorf("got %q, %v; want %q", silent, err, c.silent)
			}
		})
	}
}

// TestWebhookDoesNotRefuseWhatComesWithIt has a chart with an object that its own
// webhook judges, and no server that answers for the webhook.
func TestWebhookDoesNotRefuseWhatComesWithIt(t *testing.T) {
	l := newLab(t)
	group := l.namespace + ".example.com"
	l.stock(l.key("gate"), "1.0.0", map[string]string{
		"crds/tea.yaml":      definitionFile(group, "kind: {type: string}"),
		"templates/tea.yaml": "apiVersion: " + group + "/v1\nkind: Tea\nmetadata: {name: green}\n",
		"templates/gate.yaml": `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: "{{ .Release.Namespace }}"}
webhooks:
- name: gate.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {service: {namespace: "{{ .Release.Namespace }}", name: gate, path: /judge}}
  rules: [{apiGroups: ["` + group + `"], apiVersions: [v1], resources: [teas], operations: [CREATE, UPDATE]}]
`,
	})
	t.Cleanup(func() {
		_ = l.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(context.Background(), l.namespace, metav1.DeleteOptions{})
	})
	a := l.chart("gate", "1.0.0", func(a *addon.Addon) { a.Ready.Workloads = nil })
	l.awaitReady(a)
	l.wantReleases("gate", 1)
}
