// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"fmt"
	"time"
)

// Profile is how long things take. All delays of the simulator come from here.
type Profile struct {
	Create       time.Duration // the platform's answer to a create call
	Boot         time.Duration // from power-on until the machine has an address
	Etcd         time.Duration // from a configuration until etcd can start
	EtcdHealth   time.Duration // from etcd's start until it is known to be healthy, and votes
	APIServer    time.Duration // from etcd until the API server answers
	NodeReady    time.Duration // from a kubelet's start until its node is Ready
	Chart        time.Duration // from a pod's creation until the pod of an addon is ready
	LoadBalancer time.Duration // from the create call until a load balancer answers
	SharedIP     time.Duration // from a power loss until another node holds Talos' shared IP
	KubeVIP      time.Duration // the same for the address of kube-vip
}

// The profiles.
const (
	Instant   = "instant"
	Realistic = "realistic"
)

// ProfileNamed returns the profile of that name; an empty name means instant.
func ProfileNamed(name string) (Profile, error) {
	switch name {
	case "", Instant:
		return Profile{}, nil
	case Realistic:
		return Profile{
			Create:       2 * time.Second,
			Boot:         25 * time.Second,
			Etcd:         15 * time.Second,
			EtcdHealth:   5 * time.Second,
			APIServer:    20 * time.Second,
			NodeReady:    15 * time.Second,
			Chart:        10 * time.Second,
			LoadBalancer: 20 * time.Second,
			SharedIP:     time.Minute,
			KubeVIP:      5 * time.Second,
		}, nil
	}
	return Profile{}, fmt.Errorf("there is no profile %q; take %s or %s", name, Instant, Realistic)
}
