// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "encoding/base64"

// oneInstance is the instance that a call is about.
func (c *call) oneInstance() (*instance, error) {
	named := *c
	named.params = map[string]string{"InstanceId.1": c.params.String("InstanceId")}
	all, err := named.instancesNamed()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func describeAttribute(c *call) (fields, error) {
	i, err := c.oneInstance()
	if err != nil {
		return nil, err
	}
	value := func(v any) fields { return fields{"value", v} }
	name := c.params.String("Attribute")
	var shown any
	switch name {
	case "instanceType":
		shown = value(i.Type)
	case "userData":
		shown = fields{}
		if len(i.UserData) > 0 {
			shown = value(base64.StdEncoding.EncodeToString(i.UserData))
		}
	case "disableApiTermination":
		shown = value(i.Protected)
	case "disableApiStop":
		shown = value(i.Stubborn)
	case "instanceInitiatedShutdownBehavior":
		shown = value(i.Shutdown)
	case "rootDeviceName":
		shown = value(i.RootDevice)
	case "ebsOptimized":
		shown = value(i.EBSOptimized)
	case "enaSupport":
		shown = value(true)
	case "blockDeviceMapping":
		shown = c.showDisks(i)
	case "sourceDestCheck", "groupSet":
		n := c.primary(i)
		if n == nil {
			return nil, refuse("IncorrectInstanceState", "The instance '%s' has no network interface.", i.ID)
		}
		if shown = c.groupSet(n.Groups); name == "sourceDestCheck" {
			shown = value(n.SourceDestCheck)
		}
	default:
		shown = fields{}
	}
	return fields{"instanceId", i.ID, name, shown}, nil
}

// primary is the first interface of an instance; nil: it is terminated.
func (c *call) primary(i *instance) *networkInterface {
	if len(i.Interfaces) == 0 {
		return nil
	}
	return c.st.interfaces.ByID[i.Interfaces[0]]
}

func modifyAttribute(c *call) (fields, error) {
	i, err := c.oneInstance()
	if err != nil {
		return nil, err
	}
	n := c.primary(i)
	if n == nil {
		return nil, refuse("IncorrectInstanceState", "The instance '%s' is not in a state in which it can be modified.", i.ID)
	}
	groups := c.params.List("GroupId")
	for _, id := range groups {
		if _, err := c.group(id); err != nil {
			return nil, err
		}
	}
	offline := c.params.Has("InstanceType") || c.params.Has("UserData") || c.params.Has("EbsOptimized")
	if offline && i.State != stopped {
		return nil, refuse("IncorrectInstanceState", "The instance '%s' is not in the 'stopped' state.", i.ID)
	}
	if offline {
		return nil, refuse("UnsupportedOperation", "The simulated platform does not change this attribute")
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	n.SourceDestCheck = c.params.Bool("SourceDestCheck.Value", n.SourceDestCheck)
	i.Protected = c.params.Bool("DisableApiTermination.Value", i.Protected)
	i.Stubborn = c.params.Bool("DisableApiStop.Value", i.Stubborn)
	if s := c.params.String("InstanceInitiatedShutdownBehavior.Value"); s != "" {
		i.Shutdown = s
	}
	if len(groups) > 0 {
		n.Groups = groups
	}
	c.modifyDisks(i)
	c.st.interfaces.Put(n.ID, n)
	c.st.instances.Put(i.ID, i)
	return fields{"return", true}, nil
}

func (c *call) modifyDisks(i *instance) {
	for _, p := range c.params.Each("BlockDeviceMapping") {
		for _, v := range c.disks(i.ID) {
			if v.Device == p.String("DeviceName") {
				v.DeleteOnTermination = p.Bool("Ebs.DeleteOnTermination", v.DeleteOnTermination)
				c.st.volumes.Put(v.ID, v)
			}
		}
	}
}

func modifyMetadata(c *call) (fields, error) {
	i, err := c.oneInstance()
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(i.Metadata, c.params)
	if err != nil {
		return nil, err
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	i.Metadata = m
	c.st.instances.Put(i.ID, i)
	return fields{"instanceId", i.ID, "instanceMetadataOptions", m.show()}, nil
}
