// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// cloudAddresses are those of the load balancers of a cloud: a range for documentation, which
// no network of a rehearsal has.
const cloudAddresses = "198.51.100.1-198.51.100.254"

// Cloud is where the load balancers of Services are.
type Cloud struct {
	// Platform is the name of the cloud. Load balancers of aws have names, elsewhere addresses.
	Platform, Region string
	// Name has a name resolve to addresses on the network until forget is called.
	Name func(name string, addresses func() []netip.Addr) (forget func())
}

// RunCloudBalancers gives Services of type LoadBalancer addresses or names, as the service
// controller of a cloud controller manager does, until ctx ends. The load balancers are no
// objects of the simulated cloud, and nothing answers at them but hosted control planes.
func RunCloudBalancers(ctx context.Context, config *rest.Config, cloud Cloud) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	services := informers.NewSharedInformerFactory(client, 0)
	m, err := newMetalLB(client, services.Core().V1().Services(), func() ([]string, error) { return []string{cloudAddresses}, nil })
	if err != nil {
		return err
	}
	if cloud.Platform == "aws" {
		m.names = &elasticNames{cloud: cloud, known: map[string]func(){}}
		defer m.names.follow(nil)
	}
	services.StartWithContext(ctx)
	defer services.Shutdown()
	services.WaitForCacheSyncWithContext(ctx)
	m.run(ctx)
	return nil
}

// elasticNames are those of Elastic Load Balancing: a load balancer has a name, and addresses
// that only the name server knows.
type elasticNames struct {
	cloud Cloud
	known map[string]func() // ends the name
}

// balancerType on a Service asks for a network load balancer, in place of a classic one.
const balancerType = "service.beta.kubernetes.io/aws-load-balancer-type"

// ingress is what a Service reports for its load balancer.
func (e *elasticNames) ingress(s *corev1.Service, address netip.Addr) corev1.LoadBalancerIngress {
	if e == nil {
		return corev1.LoadBalancerIngress{IP: address.String()}
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(s.UID))
	// The name has the address in it, so that both outlive the simulator.
	id := fmt.Sprintf("a%.31s-%08x%s", strings.ReplaceAll(string(s.UID), "-", ""), hash.Sum32(), hex.EncodeToString(address.AsSlice()))
	if s.Annotations[balancerType] == "nlb" {
		return corev1.LoadBalancerIngress{Hostname: id + ".elb." + e.cloud.Region + ".amazonaws.com"}
	}
	return corev1.LoadBalancerIngress{Hostname: id + "." + e.cloud.Region + ".elb.amazonaws.com"}
}

// addressOfIngress is the address, or the one in a name.
func addressOfIngress(i corev1.LoadBalancerIngress) netip.Addr {
	if a, err := netip.ParseAddr(i.IP); err == nil {
		return a
	}
	label, _, _ := strings.Cut(i.Hostname, ".")
	data, err := hex.DecodeString(label[max(0, len(label)-8):])
	if err != nil {
		return netip.Addr{}
	}
	a, _ := netip.AddrFromSlice(data)
	return a
}

// follow has exactly the names of these Services resolve.
func (e *elasticNames) follow(services []*corev1.Service) {
	if e == nil {
		return
	}
	present := map[string]bool{}
	for _, s := range services {
		for _, i := range s.Status.LoadBalancer.Ingress {
			if present[i.Hostname] = true; i.Hostname != "" && e.known[i.Hostname] == nil {
				address := addressOfIngress(i)
				e.known[i.Hostname] = e.cloud.Name(i.Hostname, func() []netip.Addr { return []netip.Addr{address} })
			}
		}
	}
	for name, forget := range e.known {
		if !present[name] {
			forget()
			delete(e.known, name)
		}
	}
}
