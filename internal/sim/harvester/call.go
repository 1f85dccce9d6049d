// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"encoding/json"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
)

// classify says what a request is in the words of a fault plan.
func classify(r *http.Request) fault.Call {
	info := infoOf(r)
	call := fault.Call{Verb: verbOf(info.Verb), Name: info.Name}
	switch (schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}).String() {
	case "virtualmachines.kubevirt.io", "virtualmachineinstances.kubevirt.io":
		call.Resource = fault.Machine
	case "persistentvolumeclaims":
		call.Resource = fault.Disk
	case "virtualmachineimages.harvesterhci.io":
		call.Resource = fault.Image
	case "network-attachment-definitions.k8s.cni.cncf.io":
		call.Resource = fault.Network
	case "storageclasses.storage.k8s.io":
		call.Resource = fault.Storage
	case "secrets":
		call.Resource = fault.Secret
	}
	if call.Verb == fault.Create && call.Name == "" {
		call.Name = objectIn(front.Body(r)).name
	}
	return call
}

func infoOf(r *http.Request) *request.RequestInfo {
	paths := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := paths.NewRequestInfo(r)
	if err != nil {
		return &request.RequestInfo{Verb: "get"} // the API server will say what is wrong
	}
	return info
}

func verbOf(verb string) fault.Verb {
	switch verb {
	case "patch":
		return fault.Update
	case "deletecollection":
		return fault.Delete
	}
	return fault.Verb(verb)
}

// identity is what is asked of the object in a request.
type identity struct {
	name   string
	labels map[string]string
}

// objectIn reads what a request brings, in either encoding of the API server. What is
// no object has no identity.
func objectIn(data []byte) identity {
	var object struct {
		Metadata struct {
			Name   string
			Labels map[string]string
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &object) == nil {
		return identity{object.Metadata.Name, object.Metadata.Labels}
	}
	decoded, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return identity{}
	}
	named, err := meta.Accessor(decoded)
	if err != nil {
		return identity{}
	}
	return identity{named.GetName(), named.GetLabels()}
}

// refuseFault answers a call that the fault plan refuses.
func refuseFault(w http.ResponseWriter, r *http.Request, f fault.Refusal) {
	switch f.Kind {
	case fault.Throttle:
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
		refuse(w, r, http.StatusTooManyRequests, "too many requests; try again later")
	case fault.TokenExpiry:
		refuse(w, r, http.StatusUnauthorized, "the credentials have expired")
	case fault.Quota:
		refuse(w, r, http.StatusForbidden, "exceeded quota: fault-plan")
	default:
		refuse(w, r, http.StatusForbidden, "the fault plan denies it")
	}
}

// refuse answers as an API server does.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	info := infoOf(r)
	retry, _ := strconv.Atoi(w.Header().Get("Retry-After")) // 0 if there is none
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	answer(w, status, apierrors.NewGenericServerResponse(status, info.Verb, resource, info.Name, message, retry, true).Status())
}

// pretend answers a request that is not carried out.
func pretend(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
}

func answer(w http.ResponseWriter, code int, s metav1.Status) {
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(s) // the caller may be gone
}
