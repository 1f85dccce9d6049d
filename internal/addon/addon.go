// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The keys of the addons, as in status.addonsInstalled. A provider's
// own chart is called ButlerProvider followed by the provider's name.
const (
	KubeVIP                = "kube-vip"
	GatewayAPI             = "gateway-api"
	Cilium                 = "cilium"
	CloudControllerManager = "cloud-controller-manager"
	CertManager            = "cert-manager"
	Longhorn               = "longhorn"
	MetalLB                = "metallb"
	Traefik                = "traefik"
	IngressNginx           = "ingress-nginx"
	Steward                = "steward"
	Kamaji                 = "kamaji"
	CAPI                   = "capi"
	Flux                   = "flux"
	ButlerCRDs             = "butler-crds"
	ButlerController       = "butler-controller"
	ButlerBootstrap        = "butler-bootstrap"
	ButlerProvider         = "butler-provider-"
	Console                = "console"
)

// Addon is one addon of a cluster, with all that an installer has to know.
type Addon struct {
	// Key in status.addonsInstalled.
	Key string
	// Source says where it comes from.
	Source Source
	// Version of the chart, the manifest, the components or the image.
	Version string
	// Release is the name of the Helm release; empty where there is no chart.
	Release string
	// Namespace that it is installed to; without a name it brings its own, or
	// has none.
	Namespace Namespace
	// Beside are further namespaces that must be there before it: the source
	// expects them, or brings them with a level that its own pods do not meet.
	Beside []Namespace
	// Needs are the keys of addons of the same cluster that must be ready first.
	Needs []string
	// Values of the chart.
	Values map[string]any
	// Objects are applied: the whole of the addon where its source is Objects,
	// and otherwise what follows once the source's own objects are ready.
	Objects []*unstructured.Unstructured
	// Secret that must be there before it; nil means none.
	Secret *Secret
	// Providers of Cluster API.
	Providers []Provider
	// Ready says what counts, besides the workloads that the source itself lists.
	Ready Readiness
}

// SourceKind is a way to come by an addon.
type SourceKind string

// The kinds of sources.
const (
	ChartRepository SourceKind = "ChartRepository" // a chart from an HTTP repository
	ChartOCI        SourceKind = "ChartOCI"        // a chart from an OCI registry
	ChartCarried    SourceKind = "ChartCarried"    // a chart of this project, carried in the program
	Manifest        SourceKind = "Manifest"        // one file of objects, by HTTP
	Components      SourceKind = "Components"      // component files of Cluster API providers
	Objects         SourceKind = "Objects"         // objects that this program makes itself
)

// Source says where an addon comes from.
type Source struct {
	Kind SourceKind
	// URL of the HTTP repository, of the chart in its registry, or of the
	// manifest, in which %s is the version.
	URL string
	// Chart is the chart's name.
	Chart string
	// WithoutCRDs are files of the chart's crds folder that are left out: others
	// own these definitions.
	WithoutCRDs []string
	// Digest is the published checksum of the chart's archive; empty where it is not known.
	Digest string
}

// Origin returns where an addon comes from unless the user redirects it.
func (a Addon) Origin() string {
	switch a.Source.Kind {
	case ChartCarried, Objects:
		return "butleradm"
	case Manifest:
		return strings.ReplaceAll(a.Source.URL, "%s", a.Version)
	case Components:
		return "Cluster API"
	case ChartRepository, ChartOCI:
	}
	return a.Source.URL
}

// PodSecurity is a level of the Pod Security Standards.
type PodSecurity string

// The levels that are used here. Nodes of Talos enforce baseline by default.
const (
	Privileged PodSecurity = "privileged"
	Baseline   PodSecurity = "baseline"
	Restricted PodSecurity = "restricted"
)

// Namespace of an addon and the level that it enforces; without a level it is
// made if it is missing, and otherwise stays as it is.
type Namespace struct {
	Name        string
	PodSecurity PodSecurity
}

// Secret is one that an addon reads and that is made from the credentials of
// the cluster's ProviderConfig. Only names stand here, never credentials.
type Secret struct {
	Namespace, Name string
	// Copy lists keys that are taken over as they are, where they are there.
	Copy []string
	// Key holds a JSON document made of Fields and of Fill, which names the
	// credential for each further field.
	Key    string
	Fields map[string]any
	Fill   map[string]string
	// Profile is the region of an AWS profile, which the key config holds.
	Profile string
	// GoogleDir is where the files of Google's libraries are mounted: the key
	// credentials.json, and for a federation its token.
	GoogleDir string
}

// Ref names an object.
type Ref struct{ APIVersion, Kind, Namespace, Name string }

// Readiness says what must be seen before an addon is ready.
type Readiness struct {
	// Workloads have all their pods ready; some are created by the addon itself and
	// are in no chart.
	Workloads []Ref
	// CRDs are established.
	CRDs []string
	// Webhooks have a CA bundle, and their service answers.
	Webhooks []Ref
	// Exist merely have to be there.
	Exist []Ref
}

func refs(apiVersion, kind, namespace string, names []string) (out []Ref) {
	for _, name := range names {
		out = append(out, Ref{apiVersion, kind, namespace, name})
	}
	return out
}

func deployments(namespace string, names ...string) []Ref {
	return refs("apps/v1", "Deployment", namespace, names)
}

func daemonSets(namespace string, names ...string) []Ref {
	return refs("apps/v1", "DaemonSet", namespace, names)
}

func statefulSets(namespace string, names ...string) []Ref {
	return refs("apps/v1", "StatefulSet", namespace, names)
}

const admissionV1 = "admissionregistration.k8s.io/v1"

func validating(names ...string) []Ref {
	return refs(admissionV1, "ValidatingWebhookConfiguration", "", names)
}

func mutating(names ...string) []Ref {
	return refs(admissionV1, "MutatingWebhookConfiguration", "", names)
}

// object is one of this program's making.
func object(apiVersion, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	maps.Copy(o.Object, fields)
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
