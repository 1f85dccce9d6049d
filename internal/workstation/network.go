// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/butlerdotdev/butler/provider"
)

// proxy looks at the proxies of the environment. The platform and the new cluster are often
// reached without one.
func proxy(_ context.Context, o Options) provider.Finding {
	return proxyFinding(httpproxy.FromEnvironment(), o.Direct)
}

func proxyFinding(c *httpproxy.Config, direct []string) provider.Finding {
	const name = "proxies"
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return passed(name, "none is set")
	}
	for _, text := range []string{c.HTTPProxy, c.HTTPSProxy} {
		if !isProxy(text) {
			return refused(name, "HTTP_PROXY or HTTPS_PROXY is not a URL with a host", "correct it, for example http://proxy.example.com:3128")
		}
	}
	evidence := "HTTPS goes through " + host(c.HTTPSProxy)
	var through []string
	for _, address := range direct {
		if u, err := c.ProxyFunc()(&url.URL{Scheme: "https", Host: address}); err == nil && u != nil {
			through = append(through, address)
		}
	}
	if len(through) == 0 {
		return passed(name, evidence)
	}
	return unknown(name, evidence+", and so do connections to "+strings.Join(through, ", "),
		"if the proxy does not reach them, add them to NO_PROXY")
}

// isProxy reports whether a proxy is absent, or has a host.
func isProxy(text string) bool {
	return text == "" || host(text) != ""
}

// host returns the host of a proxy: its URL may hold a password.
func host(text string) string {
	if text == "" {
		return "no proxy"
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// names resolves the hosts that a cluster needs, and localhost. A host that is not found may
// be one of a site without an internet connection.
func names(ctx context.Context, o Options) provider.Finding {
	const name = "name resolution"
	if addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", "localhost"); err != nil || !allLoopback(addresses) {
		return refused(name, fmt.Sprintf("localhost is %v, %v", addresses, err), "add 127.0.0.1 localhost to /etc/hosts")
	}
	var found, missing []string
	for _, h := range hosts(o.Hosts) {
		if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip", h); err != nil {
			missing = append(missing, h+" ("+reason(err)+")")
			continue
		}
		found = append(found, h)
	}
	if len(missing) > 0 {
		return unknown(name, "not found: "+strings.Join(missing, ", "), "check the name servers of this machine; a site without an internet connection needs none of the public names")
	}
	return passed(name, "found: "+strings.Join(append([]string{"localhost"}, found...), ", "))
}

// hosts are the names to resolve, each once, without addresses.
func hosts(all []string) (out []string) {
	for _, h := range all {
		if _, err := netip.ParseAddr(h); err != nil && h != "" && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// reason is why a name was not resolved, in few words.
func reason(err error) string {
	dns, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return err.Error()
	case dns.IsNotFound:
		return "no such host"
	case dns.IsTimeout:
		return "no answer in time"
	}
	return dns.Err
}

func allLoopback(all []netip.Addr) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(a netip.Addr) bool { return !a.Unmap().IsLoopback() })
}
