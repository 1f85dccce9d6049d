// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "time"

// initializing is how long after its start the checks of an instance take.
const initializing = 2 * time.Minute

func describeStatus(c *call) (fields, error) {
	if c.params.Has("InstanceId") && c.params.Has("MaxResults") {
		return nil, refuse("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	all, err := c.instancesNamed()
	if err != nil {
		return nil, err
	}
	var some []*instance
	for _, i := range all {
		if i.State == running || c.params.Bool("IncludeAllInstances", false) {
			some = append(some, i)
		}
	}
	return described(c, "instanceStatusSet", ec2Pages(1000), some, func(i *instance) values {
		health := c.health(i)
		return values{
			"instance-state-name": {i.State}, "availability-zone": {i.Zone}, "instance-status.status": {health}, "system-status.status": {"ok"},
			"instance-status.reachability": {reachability(health)}, "system-status.reachability": {"passed"},
		}.tagged(i.Tags)
	}, c.showStatus)
}

func (c *call) showStatus(i *instance) fields {
	health := c.health(i)
	check := func(status string) fields {
		return fields{"status", status, "details", items{fields{"name", "reachability", "status", reachability(status)}}}
	}
	system := "ok"
	if i.State != running {
		system = "not-applicable"
	}
	return fields{
		"instanceId", i.ID, "availabilityZone", i.Zone, "instanceState", showState(i.State),
		"systemStatus", check(system), "instanceStatus", check(health), "eventsSet", items{},
	}
}

// health is the status of the instance itself: its guest answers, or not.
func (c *call) health(i *instance) string {
	if i.State != running {
		return "not-applicable"
	}
	if m, on := c.Options.Datacenter.Running(i.ID); on && m.Address.IsValid() {
		return "ok"
	}
	if c.now.Sub(i.Launched) < initializing {
		return "initializing"
	}
	return "impaired"
}

func reachability(status string) string {
	switch status {
	case "ok":
		return "passed"
	case "impaired":
		return "failed"
	case "initializing":
		return "initializing"
	}
	return "insufficient-data"
}
