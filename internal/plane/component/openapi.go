// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/emicklei/go-restful/v3"
	helpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapiv3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/util/responsewriter"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kube-openapi/pkg/common"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// schemas publishes the API below /openapi at the first request for it. The API server itself
// does so when it starts: 40 percent of the work of its start, for a document that few
// planes are ever asked for. APIs that other servers add by an APIService are not in it.
type schemas struct {
	ctx    context.Context
	config *common.Config
	v3     *common.OpenAPIV3Config
	chain  []*server.GenericAPIServer
	api    kubernetes.Interface
	crds   clientset.Interface

	building sync.Mutex
	built    http.Handler
}

// takeOver has the API server leave its schemas to the result.
func takeOver(ctx context.Context, c *apiserver.Config) (*schemas, error) {
	generic := c.KubeAPIs.ControlPlane.Generic
	api, err := kubernetes.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	crds, err := clientset.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	generic.SkipOpenAPIInstallation = true
	c.ApiExtensions.GenericConfig.SkipOpenAPIInstallation = true
	c.Aggregator.GenericConfig.OpenAPIConfig = nil
	return &schemas{ctx: ctx, config: generic.OpenAPIConfig, v3: generic.OpenAPIV3Config, api: api, crds: crds}, nil
}

// of names the servers whose API is published: the first one and all that it delegates to.
func (s *schemas) of(first *server.GenericAPIServer) {
	for next, ok := first, true; ok; next, ok = next.NextDelegate().(*server.GenericAPIServer) {
		s.chain = append(s.chain, next)
	}
}

// handler answers what is below /openapi.
func (s *schemas) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/openapi/") {
			next.ServeHTTP(w, r)
			return
		}
		if s.needless(r) {
			_, _ = w.Write([]byte(`{"paths":{}}`))
			return
		}
		built, err := s.once()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		built.ServeHTTP(w, r)
	})
}

// once publishes, unless that has been done.
func (s *schemas) once() (http.Handler, error) {
	s.building.Lock()
	defer s.building.Unlock()
	if s.built != nil {
		return s.built, nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	built, err := s.publish(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	context.AfterFunc(s.ctx, cancel)
	s.built = built
	return built, nil
}

// needless reports whether the API server itself asks which schemas there are, which it does every
// five seconds for policies that change objects, while there is no such policy.
func (s *schemas) needless(r *http.Request) bool {
	by, _ := request.UserFrom(r.Context())
	if by == nil || by.GetName() != user.APIServerUser {
		return false
	}
	policies, err := s.api.AdmissionregistrationV1().MutatingAdmissionPolicies().List(r.Context(), metav1.ListOptions{Limit: 1})
	return err == nil && len(policies.Items) == 0
}

func (s *schemas) publish(ctx context.Context) (http.Handler, error) {
	paths, services := mux.NewPathRecorderMux("openapi"), s.services()
	v2, static := routes.OpenAPI{Config: s.config}.InstallV2(services, paths)
	v3 := routes.OpenAPI{V3Config: s.v3}.InstallV3(services, paths)
	factory := informers.NewSharedInformerFactory(s.crds, 0)
	definitions := factory.Apiextensions().V1().CustomResourceDefinitions()
	crds2, crds3 := openapi.NewController(definitions), openapiv3.NewController(definitions)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go crds2.Run(static, v2, ctx.Done())
	go crds3.Run(v3, ctx.Done())
	all, err := definitions.Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	return paths, wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return lists(paths, all), nil
	})
}

// lists reports whether all versions of custom resources are published: what does so reports
// nothing itself.
func lists(paths http.Handler, all []*apiextensionsv1.CustomResourceDefinition) bool {
	w := responsewriter.NewInMemoryResponseWriter()
	paths.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/openapi/v3"}})
	for _, d := range all {
		for _, v := range d.Spec.Versions {
			path := fmt.Sprintf("%q", "apis/"+d.Spec.Group+"/"+v.Name)
			if v.Served && helpers.IsCRDConditionTrue(d, apiextensionsv1.Established) && !bytes.Contains(w.Data(), []byte(path)) {
				return false
			}
		}
	}
	return true
}

// services are those of all servers in one container.
func (s *schemas) services() *restful.Container {
	all, known := restful.NewContainer(), map[string]bool{}
	for _, each := range s.chain {
		for _, service := range each.Handler.GoRestfulContainer.RegisteredWebServices() {
			if !known[service.RootPath()] {
				known[service.RootPath()] = true
				all.Add(service)
			}
		}
	}
	return all
}
