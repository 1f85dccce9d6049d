// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/mirror"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// exchange bounds one exchange with a tenant's API server.
	exchange = 10 * time.Second
	// silence is after which time without a word an API server is asked whether it is there.
	silence = 20 * time.Second
	// answerFor is for how long an answer counts: a cluster whose machines are asked again and again
	// is walked along that often.
	answerFor = 5 * time.Second
)

// Tenants are the connections to the API servers of tenant clusters. Each watches the nodes
// of its cluster and reports changes. It is safe for concurrent use.
type Tenants struct {
	// Dial opens the connections.
	Dial talos.Dialer
	// Wake is called with the id of a cluster when one of its nodes has changed.
	Wake func(id string)

	mu  sync.Mutex
	all map[string]*Tenant
}

// Tenant is a connection to the API server of a tenant cluster.
type Tenant struct {
	Config *rest.Config

	core    corev1client.CoreV1Interface // clients of all groups would take 100 KiB for each tenant
	hash    [sha256.Size]byte
	nodes   corev1listers.NodeLister
	synced  func() bool
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	close   func()
	changed func()

	balancers balancers
	answered  atomic.Pointer[time.Time] // the last time; nil if the connection has failed since
}

// Connect returns the connection to a cluster, with its administrator's kubeconfig. Another
// kubeconfig or another route is another connection.
func (t *Tenants) Connect(id string, kubeconfig []byte, via route) (*Tenant, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hash := sha256.Sum256(append([]byte(via.String()+"\n"), kubeconfig...))
	if known := t.all[id]; known != nil && known.hash == hash {
		return known, nil
	}
	fresh, err := t.dial(id, kubeconfig, via)
	if err != nil {
		return nil, err
	}
	fresh.hash = hash
	if known := t.all[id]; known != nil {
		known.end()
	}
	if t.all == nil {
		t.all = map[string]*Tenant{}
	}
	t.all[id] = fresh
	return fresh, nil
}

// Forget ends the connection to a cluster.
func (t *Tenants) Forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.all[id]; known != nil {
		known.end()
		delete(t.all, id)
	}
}

// Close ends all connections.
func (t *Tenants) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, known := range t.all {
		known.end()
		delete(t.all, id)
	}
}

func (t *Tenant) end() {
	t.cancel()
	t.close()
}

func (t *Tenants) dial(id string, kubeconfig []byte, via route) (*Tenant, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, errors.New("the kubeconfig of the tenant cannot be read")
	}
	config.QPS = -1
	config.Dial = via.dialer(t.Dial)
	if via.address != "" {
		config.Host = "https://" + via.endpoint
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, errors.New("the certificates in the kubeconfig of the tenant cannot be read")
	}
	transport := &http.Transport{
		TLSClientConfig: tls, DialContext: config.Dial, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
		HTTP2: &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: exchange}, // a watch of a silent server ends
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, err
	}
	api, err := corev1client.NewForConfigAndClient(config, &http.Client{Transport: wrapped})
	if err != nil {
		return nil, err
	}
	out := &Tenant{core: api, Config: config, close: transport.CloseIdleConnections, changed: func() { t.Wake(id) }}
	out.ctx, out.cancel = context.WithCancel(context.Background())
	out.watch()
	return out, nil
}

// CoreV1 is a client of the group of nodes, Services and Secrets.
func (t *Tenant) CoreV1() corev1client.CoreV1Interface { return t.core }

// watch keeps the nodes of the cluster, without what is not read of them.
func (t *Tenant) watch() {
	nodes := mirror.New(mirror.Options{
		Source: cache.NewListWatchFromClient(t.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, fields.Everything()), Kind: &corev1.Node{}, Transform: slim,
		Changed: func(before, after any) {
			if differs(before, after) {
				t.changed()
			}
		},
		Failed: func(error) { t.lost() },
	})
	t.nodes, t.synced = corev1listers.NewNodeLister(nodes.Store()), nodes.Complete
	go nodes.Run(t.ctx)
}

// lost records that the connection has failed. An API server that was there may not answer any more;
// one that was not may not be there yet.
func (t *Tenant) lost() {
	t.answered.Store(nil)
	if t.synced() {
		t.changed()
	}
}

// slim keeps of a node what is read of it.
func slim(o any) (any, error) {
	n, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, DeletionTimestamp: n.DeletionTimestamp},
		Spec:       corev1.NodeSpec{ProviderID: n.Spec.ProviderID},
		Status: corev1.NodeStatus{
			Addresses: n.Status.Addresses, Conditions: onlyReady(n.Status.Conditions),
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: n.Status.NodeInfo.KubeletVersion},
		},
	}, nil
}

func onlyReady(all []corev1.NodeCondition) []corev1.NodeCondition {
	for _, c := range all {
		if c.Type == corev1.NodeReady {
			c.LastHeartbeatTime = metav1.Time{}
			return []corev1.NodeCondition{c}
		}
	}
	return nil
}

// differs reports whether a change of a node concerns its cluster: heartbeats do not.
func differs(before, after any) bool {
	b, ok := before.(*corev1.Node)
	a, is := after.(*corev1.Node)
	if !ok || !is {
		return true
	}
	return notReady(*a) != notReady(*b) || a.Spec.ProviderID != b.Spec.ProviderID || a.Status.NodeInfo.KubeletVersion != b.Status.NodeInfo.KubeletVersion ||
		len(a.Status.Addresses) != len(b.Status.Addresses)
}

// Nodes returns the nodes of the cluster as they are now; an error if they are not known.
func (t *Tenant) Nodes(ctx context.Context) ([]corev1.Node, error) {
	if !t.synced() {
		ctx, cancel := context.WithTimeout(ctx, exchange)
		defer cancel()
		list, err := t.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	}
	known, err := t.nodes.List(labels.Everything())
	out := make([]corev1.Node, 0, len(known))
	for _, n := range known {
		out = append(out, *n)
	}
	return out, err
}

// Answers asks the API server whether it is ready, unless it has just said so.
func (t *Tenant) Answers(ctx context.Context) error {
	if last := t.answered.Load(); last != nil && time.Since(*last) < answerFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	_, err := t.core.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	if err == nil {
		t.answered.Store(new(time.Now()))
	}
	return err
}

// notReady returns why a node is not Ready, empty if it is.
func notReady(n corev1.Node) string {
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			return ""
		default:
			return fmt.Sprintf("is not Ready: %s %s", c.Reason, c.Message)
		}
	}
	return "has not reported whether it is Ready"
}
