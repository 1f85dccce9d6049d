// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"strconv"
	"strings"
)

// ReportVersion is a flag of the API server of this project, with a version after it: what it
// reports instead of its own. Nothing else changes with it.
const ReportVersion = "--report-version="

func (p *Plane) etcdArgs() []string {
	return []string{
		"--data-dir=" + dataDir(p.options.Dir),
		"--quota-backend-bytes=" + strconv.FormatInt(p.options.Quota, 10),
	}
}

func (p *Plane) apiServerArgs(f certFiles) []string {
	host, port := hostPort(p.listener)
	args := []string{
		"--bind-address=" + host,
		"--secure-port=" + strconv.Itoa(port),
		"--advertise-address=" + host,
		"--tls-cert-file=" + f.cert("apiserver"),
		"--tls-private-key-file=" + f.key("apiserver"),
		"--client-ca-file=" + f.cert("ca"),
		"--requestheader-client-ca-file=" + f.cert("front-proxy-ca"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + f.cert("front-proxy-client"),
		"--proxy-client-key-file=" + f.key("front-proxy-client"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + f.key("sa"),
		"--service-account-signing-key-file=" + f.key("sa"),
		"--service-cluster-ip-range=" + p.options.ServiceCIDR,
		"--authorization-mode=Node,RBAC",
		"--enable-bootstrap-token-auth=true",
		// A loopback address may not be an endpoint of the kubernetes Service.
		"--endpoint-reconciler-type=none",
		"--event-ttl=24h",
		"--profiling=false",
	}
	if off := p.options.AdmissionOff; len(off) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(off, ","))
	}
	return append(args, p.options.Args...)
}

func (p *Plane) controllerManagerArgs(f certFiles) []string {
	return []string{
		"--kubeconfig=" + f.config("kube-controller-manager"),
		"--controllers=" + strings.Join(p.options.Controllers, ","),
		"--service-account-private-key-file=" + f.key("sa"),
		"--root-ca-file=" + f.cert("ca"),
		"--cluster-signing-cert-file=" + f.cert("ca"),
		"--cluster-signing-key-file=" + f.key("ca"),
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func (p *Plane) schedulerArgs(f certFiles) []string {
	return []string{
		"--kubeconfig=" + f.config("kube-scheduler"),
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}
