// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// applyInsert provisions an instance. If that fails the instance does not exist any more,
// nor do the disks that came with it.
func applyInsert(g *GCP, t task) error {
	g.Lock()
	defer g.Unlock()
	i := g.st.get(t.Path)
	if i == nil || i.state() == stopping {
		return failure("RESOURCE_NOT_FOUND", "The resource '%s' was not found", g.full(t.Path))
	}
	if err := g.provision(i); err != nil {
		g.Unlock()
		removeErr := g.eraseMachine(i)
		g.Lock()
		g.dropInstance(i)
		for _, path := range i.Created {
			if d := g.st.get(path); d != nil {
				g.drop(d)
			}
		}
		return errors.Join(err, removeErr)
	}
	return nil
}

// provision finds room for an instance and powers its machine on.
func (g *GCP) provision(i *resource) error {
	if err := g.checkRoom(i); err != nil {
		return err
	}
	if g.Options.Faults.FailsAtStart(i.name()) {
		return failure("INTERNAL_ERROR", "Internal error. Please try again or contact Google Support. (Code: '%s')", numericID(i.id()))
	}
	if err := g.givePublic(i); err != nil {
		return err
	}
	if err := g.powerOn(i); err != nil {
		return failure("INTERNAL_ERROR", "Internal error: %v", err)
	}
	i.Object["status"], i.Object["lastStartTimestamp"], i.Object["cpuPlatform"] = running, stamp(g.self().now), "Intel Broadwell"
	i.Ran = true
	g.st.put(i)
	g.auditResource(i)
	g.Started(g.machine(i))
	return g.applyAll()
}

// checkRoom refuses an instance that a quota or its zone has no room for.
func (g *GCP) checkRoom(i *resource) error {
	c, zone := g.self(), locationOf(i.Path)
	for _, metric := range []string{g.typeOf(i).family.quota, "INSTANCES"} {
		// The instance itself is counted.
		if err := c.checkQuota(regionOf(zone), metric, 0); err != nil {
			return failure("QUOTA_EXCEEDED", "%s", quotaText(metric, g.limit(regionOf(zone), metric), "in region "+regionOf(zone)))
		}
	}
	_, full := g.Options.Faults.WithoutCapacity(i.name())
	if full || !g.Hosts || slices.Contains(g.seed.FullZones, zone) {
		return failure("ZONE_RESOURCE_POOL_EXHAUSTED", "The zone '%s' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.", g.full("zones/"+zone))
	}
	return nil
}

// publicID is what the datacenter calls the public address of an instance.
func publicID(i *resource) string { return "public-" + i.id() }

// givePublic gives an instance the public address that it asks for.
func (g *GCP) givePublic(i *resource) error {
	for _, config := range i.Object.subs("networkInterfaces")[0].subs("accessConfigs") {
		got, err := g.Options.Datacenter.Allocate(publicID(i), publicSubnet)
		if err == nil {
			err = g.Options.Datacenter.Associate(got.ID, i.id())
		}
		if err != nil {
			return failure("INTERNAL_ERROR", "Internal error: %v", err)
		}
		config["natIP"] = got.IP.String()
	}
	return nil
}

// takePublic gives the public address of an instance back.
func (g *GCP) takePublic(i *resource) error {
	if _, known := g.Options.Datacenter.StaticAddress(publicID(i)); !known {
		return nil
	}
	return errors.Join(g.Options.Datacenter.Associate(publicID(i), ""), g.Options.Datacenter.Release(publicID(i)))
}

func (g *GCP) powerOn(i *resource) error {
	t, n := g.typeOf(i), i.Object.subs("networkInterfaces")[0]
	path, _ := g.self().pathOf(n.str("subnetwork"))
	s := g.st.get(path)
	if s == nil {
		return fmt.Errorf("the subnetwork %s does not exist", path)
	}
	_, err := g.Options.Datacenter.PowerOn(datacenter.Spec{
		ID: i.id(), Name: i.name(), Ref: i.Path, Instance: i.id(), Network: subnetID(s), Zone: locationOf(i.Path), Address: i.address(),
		CPU: t.cpus, MemoryMB: t.mb, Image: g.bootImage(i), UserData: []byte(i.metadata("user-data")), Disks: g.guestDisks(i), Metadata: g.guestMetadata(i),
	})
	return err
}

// eraseMachine removes the machine of an instance and what it has. It is called without
// the lock.
func (g *GCP) eraseMachine(i *resource) error {
	if !g.Hosts || i.Copy {
		return nil
	}
	return errors.Join(g.Options.Datacenter.Remove(i.id()), g.takePublic(i))
}

// dropInstance removes an instance with its disks, and takes it out of its groups.
func (g *GCP) dropInstance(i *resource) {
	if g.st.get(i.Path) != i {
		return
	}
	g.drop(i)
	for _, d := range i.Object.subs("disks") {
		path, _ := g.self().pathOf(d.str("source"))
		if disk := g.st.get(path); disk != nil && d.bool("autoDelete") {
			g.drop(disk)
		}
	}
	g.leaveGroups(i.Path)
	if err := g.applyAll(); err != nil {
		g.Options.Log.Error("bring load balancers in line", "err", err)
	}
}

// deleteInstance begins to delete an instance.
func deleteInstance(c *call) (any, error) {
	if again, err := c.repeated(); err != nil || again != nil {
		return again, err
	}
	k := kindOf("instances")
	if err := c.allowDelete(k); err != nil {
		return nil, err
	}
	i, err := c.named(k)
	if err != nil {
		return nil, err
	}
	switch {
	case i.Deleting:
		return nil, c.notReady(i.Path)
	case i.Object.bool("deletionProtection"):
		return nil, invalid("resource.deletionProtection", "true", "Resource cannot be deleted if it's protected against deletion. Disable deletion protection first.")
	}
	i.Deleting = true
	i.Object["status"] = stopping
	c.st.put(i)
	c.auditResource(i)
	return c.begin(i.Path, i.id(), nil)
}

// applyRemove ends the machine of an instance, and then the instance.
func applyRemove(g *GCP, t task) error {
	g.Lock()
	i := g.st.get(t.Path)
	g.Unlock()
	if i == nil || i.id() != t.Target {
		return nil
	}
	if err := g.eraseMachine(i); err != nil {
		return err
	}
	g.Lock()
	defer g.Unlock()
	g.dropInstance(i)
	return nil
}

func checkStop(c *call, r *resource) error {
	if r.state() == provisioning || r.state() == staging {
		return c.notReady(r.Path)
	}
	return nil
}

// applyStop switches the machine off. The instance stays.
func applyStop(g *GCP, i *resource, _ object) error {
	if i.state() == terminated {
		return nil
	}
	i.Object["status"] = stopping
	g.st.put(i)
	g.Unlock()
	g.Options.Datacenter.PowerOff(i.id())
	err := g.takePublic(i)
	g.Lock()
	for _, config := range i.Object.subs("networkInterfaces")[0].subs("accessConfigs") {
		delete(config, "natIP")
	}
	if !i.Deleting {
		i.Object["status"], i.Object["lastStopTimestamp"] = terminated, stamp(g.self().now)
	}
	return errors.Join(err, g.applyAll())
}

// applyStart switches the machine on.
func applyStart(g *GCP, i *resource, _ object) error {
	if i.state() == running {
		return nil
	}
	if i.Copy {
		return failure("ZONE_RESOURCE_POOL_EXHAUSTED", "The zone '%s' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.", g.full("zones/"+locationOf(i.Path)))
	}
	i.Object["status"] = staging
	if err := g.provision(i); err != nil {
		i.Object["status"] = terminated
		return err
	}
	return nil
}

func checkReset(c *call, r *resource) error {
	if r.state() != running {
		return c.notReady(r.Path)
	}
	return nil
}

func applyReset(g *GCP, i *resource, _ object) error {
	g.Restart(g.machine(i))
	return nil
}
