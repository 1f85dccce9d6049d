// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestRequestsInTheWordsOfAFaultPlan(t *testing.T) {
	const vms, claims = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachines", "/api/v1/namespaces/vms/persistentvolumeclaims"
	tests := map[string]struct {
		method, path, body string
		want               fault.Call
	}{
		"get":                 {method: http.MethodGet, path: vms + "/a", want: fault.Call{Verb: fault.Get, Resource: fault.Machine, Name: "a"}},
		"list":                {method: http.MethodGet, path: vms, want: fault.Call{Verb: fault.List, Resource: fault.Machine}},
		"list everywhere":     {method: http.MethodGet, path: "/apis/kubevirt.io/v1/virtualmachineinstances", want: fault.Call{Verb: fault.List, Resource: fault.Machine}},
		"watch":               {method: http.MethodGet, path: claims + "?watch=true", want: fault.Call{Verb: fault.Watch, Resource: fault.Disk}},
		"create":              {method: http.MethodPost, path: vms, body: `{"metadata":{"name":"b"}}`, want: fault.Call{Verb: fault.Create, Resource: fault.Machine, Name: "b"}},
		"create of something": {method: http.MethodPost, path: claims, body: "\x00", want: fault.Call{Verb: fault.Create, Resource: fault.Disk}},
		"patch":               {method: http.MethodPatch, path: vms + "/a", want: fault.Call{Verb: fault.Update, Resource: fault.Machine, Name: "a"}},
		"delete":              {method: http.MethodDelete, path: "/api/v1/namespaces/vms/secrets/c", want: fault.Call{Verb: fault.Delete, Resource: fault.Secret, Name: "c"}},
		"delete several":      {method: http.MethodDelete, path: vms, want: fault.Call{Verb: fault.Delete, Resource: fault.Machine}},
		"image":               {method: http.MethodGet, path: "/apis/harvesterhci.io/v1beta1/namespaces/x/virtualmachineimages/i", want: fault.Call{Verb: fault.Get, Resource: fault.Image, Name: "i"}},
		"network":             {method: http.MethodGet, path: "/apis/k8s.cni.cncf.io/v1/namespaces/x/network-attachment-definitions/n", want: fault.Call{Verb: fault.Get, Resource: fault.Network, Name: "n"}},
		"storage class":       {method: http.MethodGet, path: "/apis/storage.k8s.io/v1/storageclasses/s", want: fault.Call{Verb: fault.Get, Resource: fault.Storage, Name: "s"}},
		"anything else":       {method: http.MethodGet, path: "/version", want: fault.Call{Verb: fault.Get}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			if diff := cmp.Diff(tt.want, classify(r)); diff != "" {
				t.Error(diff)
			}
			if left, err := io.ReadAll(r.Body); err != nil || string(left) != tt.body {
				t.Errorf("of the body %q is left, %v", left, err)
			}
		})
	}
}
