// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

const maxHealthCheckPort = 65535

// prepareHealthCheck checks a health check; TCP is simulated.
func prepareHealthCheck(c *call, r *resource) error {
	o := r.Object
	o.fill(object{"checkIntervalSec": 5.0, "timeoutSec": 5.0, "healthyThreshold": 2.0, "unhealthyThreshold": 2.0})
	if err := checkHealthCheck(o); err != nil {
		return err
	}
	return c.checkQuota("", "HEALTH_CHECKS", 1)
}

func checkHealthCheck(o object) error {
	tcp := o.sub("tcpHealthCheck")
	switch {
	case o.str("type") == "":
		return required("resource.type")
	case o.str("type") != "TCP":
		return notSimulated("resource.type")
	case !o.has("tcpHealthCheck"):
		return invalid("resource.tcpHealthCheck", "", "The health check of type TCP needs tcpHealthCheck.")
	case tcp.has("port") && (tcp.num("port") < 1 || tcp.num("port") > maxHealthCheckPort):
		return invalid("resource.tcpHealthCheck.port", fmt.Sprint(tcp.num("port")), "Must be between 1 and 65535.")
	case tcp.has("request") || tcp.has("response") || tcp.has("proxyHeader") && tcp.str("proxyHeader") != "NONE":
		return notSimulated("resource.tcpHealthCheck")
	case o.num("timeoutSec") > o.num("checkIntervalSec"):
		return invalid("resource.timeoutSec", fmt.Sprint(o.num("timeoutSec")), "It is invalid for timeoutSec to have a greater value than checkIntervalSec.")
	}
	for _, key := range []string{"checkIntervalSec", "timeoutSec"} {
		if n := o.num(key); n < 1 || n > 300 {
			return invalid("resource."+key, fmt.Sprint(n), "Must be between 1 and 300.")
		}
	}
	for _, key := range []string{"healthyThreshold", "unhealthyThreshold"} {
		if n := o.num(key); n < 1 || n > 10 {
			return invalid("resource."+key, fmt.Sprint(n), "Must be between 1 and 10.")
		}
	}
	tcp.fill(object{"proxyHeader": "NONE", "port": 80.0})
	return nil
}

func checkHealthCheckChange(c *call, r *resource) error {
	changed := r.Object.copied()
	merge(changed, c.body)
	return checkHealthCheck(changed)
}

func patchHealthCheck(g *GCP, r *resource, body object) error {
	merge(r.Object, body)
	_ = checkHealthCheck(r.Object) // was checked; it sets defaults
	return g.applyAll()
}

// prepareBackendService checks the backend service of a passthrough load balancer.
func prepareBackendService(c *call, r *resource) error {
	o := r.Object
	o.fill(object{"loadBalancingScheme": "EXTERNAL", "protocol": "TCP", "timeoutSec": 30.0, "sessionAffinity": "NONE"})
	if err := c.checkBackendService(o, locationOf(r.Path)); err != nil {
		return err
	}
	o["fingerprint"] = backendFingerprint(o)
	return c.checkQuota("", "BACKEND_SERVICES", 1)
}

func backendFingerprint(o object) string {
	return fingerprint(map[string]any(o.without("fingerprint")))
}

// simulatedService are the fields of a backend service that have an effect here.
func simulatedService() []string {
	return []string{
		"name", "description", "loadBalancingScheme", "protocol", "backends", "healthChecks", "timeoutSec", "sessionAffinity", "network", "connectionDraining", "port", "portName",
		"connectionTrackingPolicy", "logConfig", "localityLbPolicy",
	}
}

func (c *call) checkBackendService(o object, region string) error {
	for field := range c.body {
		if !slices.Contains(simulatedService(), field) && !slices.Contains(outputs(), field) {
			return notSimulated("resource." + field)
		}
	}
	if scheme := o.str("loadBalancingScheme"); scheme != "EXTERNAL" && scheme != "INTERNAL" {
		return notSimulated("resource.loadBalancingScheme")
	}
	if p := o.str("protocol"); p != "TCP" && p != "UNSPECIFIED" {
		return invalid("resource.protocol", p, "Protocol is not supported by the load balancing scheme %s.", o.str("loadBalancingScheme"))
	}
	checks := o.strs("healthChecks")
	if len(checks) != 1 {
		return invalid("resource.healthChecks", fmt.Sprint(len(checks)), "A backend service must have exactly one health check.")
	}
	one := object{"check": checks[0]}
	h, err := c.reference(one, "check", "resource.healthChecks[0]", "healthChecks", "regions/"+region)
	if err != nil {
		return err
	}
	o["healthChecks"] = []any{one.str("check")}
	if err := c.allow("compute.regionHealthChecks.useReadOnly", h.Path); err != nil {
		return err
	}
	return c.checkBackends(o, region)
}

// checkBackends checks the instance groups of a backend service.
func (c *call) checkBackends(o object, region string) error {
	seen := map[string]bool{}
	for index, b := range o.subs("backends") {
		field := fmt.Sprintf("resource.backends[%d]", index)
		group, err := c.reference(b, "group", field+".group", "instanceGroups", "")
		if err != nil {
			return err
		}
		switch {
		case regionOf(locationOf(group.Path)) != region:
			return invalid(field+".group", b.str("group"), "The instance group must be in the region of the backend service.")
		case seen[group.Path]:
			return invalid(field+".group", b.str("group"), "Duplicate instance groups in backend service.")
		case b.has("balancingMode") && b.str("balancingMode") != "CONNECTION":
			return invalid(field+".balancingMode", b.str("balancingMode"), "Balancing mode must be CONNECTION for a passthrough load balancer.")
		case b.bool("failover") || b.has("capacityScaler") && b.num("capacityScaler") != 1:
			return notSimulated(field)
		}
		seen[group.Path] = true
		if err := c.allow("compute.instanceGroups.use", group.Path); err != nil {
			return err
		}
		b["balancingMode"] = "CONNECTION"
	}
	return nil
}

func checkBackendChange(c *call, r *resource) error {
	if c.body.str("fingerprint") != r.Object.str("fingerprint") {
		return conditionNotMet("Invalid fingerprint.")
	}
	changed := r.Object.copied()
	merge(changed, c.body)
	if changed.str("loadBalancingScheme") != r.Object.str("loadBalancingScheme") {
		return invalid("resource.loadBalancingScheme", changed.str("loadBalancingScheme"), "The load balancing scheme cannot be changed.")
	}
	if err := c.checkBackendService(changed, locationOf(r.Path)); err != nil {
		return err
	}
	for _, key := range []string{"backends", "healthChecks"} {
		if c.body.has(key) {
			c.body[key] = changed[key]
		}
	}
	return nil
}

func patchBackend(g *GCP, r *resource, body object) error {
	merge(r.Object, body)
	r.Object["fingerprint"] = backendFingerprint(r.Object)
	g.st.put(r)
	return g.applyAll()
}

func balancerMethods() map[string]method {
	checks, services := kindOf("healthChecks"), kindOf("backendServices")
	out := map[string]method{
		"regionHealthChecks.patch":        change{checks, fault.Update, "update", checkHealthCheckChange, patchHealthCheck}.method(),
		"regionHealthChecks.update":       change{checks, fault.Update, "update", checkHealthCheckChange, patchHealthCheck}.method(),
		"regionBackendServices.patch":     change{services, fault.Update, "update", checkBackendChange, patchBackend}.method(),
		"regionBackendServices.update":    change{services, fault.Update, "update", checkBackendChange, patchBackend}.method(),
		"regionBackendServices.getHealth": {verb: fault.Get, resource: fault.LoadBalancer, handle: getHealth},
	}
	maps.Copy(out, groupMethods())
	return out
}

// getHealth returns the health of the instances of one group of a backend service.
func getHealth(c *call) (any, error) {
	k := kindOf("backendServices")
	if err := c.allow("compute.regionBackendServices.get", c.path(k.collection, c.params["backendService"])); err != nil {
		return nil, err
	}
	service, err := c.named(k)
	if err != nil {
		return nil, err
	}
	path, ok := c.pathOf(c.body.str("group"))
	group := c.st.get(path)
	if !ok || group == nil || !slices.ContainsFunc(service.Object.subs("backends"), func(b object) bool { return b.str("group") == c.link(path) }) {
		return nil, invalid("group", c.body.str("group"), "The group is not a backend of the backend service.")
	}
	var out []any
	for _, rule := range c.rulesOf(service) {
		out = append(out, c.healthBehind(rule, group)...)
	}
	if len(out) == 0 {
		return object{"kind": "compute#backendServiceGroupHealth"}, nil
	}
	return object{"kind": "compute#backendServiceGroupHealth", "healthStatus": out}, nil
}

// healthBehind is the health of a group's instances for one forwarding rule.
func (c *call) healthBehind(rule, group *resource) (out []any) {
	ports := rulePorts(rule.Object)
	if len(ports) == 0 {
		return nil
	}
	id := poolID(rule, ports[0])
	pool, _ := c.Options.Datacenter.Pool(id)
	health := c.Options.Datacenter.Health(id)
	for _, path := range group.Members {
		i := c.st.get(path)
		if i == nil {
			continue
		}
		state := "UNHEALTHY"
		for n, t := range pool.Targets {
			if t.Machine == i.id() && n < len(health) && health[n] == datacenter.HealthHealthy {
				state = "HEALTHY"
			}
		}
		out = append(out, object{
			"instance": c.link(path), "ipAddress": i.Object.subs("networkInterfaces")[0].str("networkIP"), "port": int(ports[0]), "healthState": state,
			"forwardingRule": c.link(rule.Path), "forwardingRuleIp": rule.Object.str("IPAddress"),
		})
	}
	return out
}

// rulesOf are the forwarding rules that send packets to a backend service.
func (g *GCP) rulesOf(service *resource) (out []*resource) {
	for _, r := range g.st.all("forwardingRules") {
		if strings.EqualFold(r.Object.str("backendService"), g.link(service.Path)) {
			out = append(out, r)
		}
	}
	return out
}
