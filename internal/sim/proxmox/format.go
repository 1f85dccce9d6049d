// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"net/netip"
	"regexp"
	"strings"
	"sync"
)

// format checks a string and returns the platform's complaint, which ends with a line feed.
type format func(value string) string

func matches(pattern, complaint string) format {
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(value string) string {
		if re.MatchString(value) {
			return ""
		}
		return strings.ReplaceAll(complaint, "%s", value) + "\n"
	}
}

// listOf checks each word of a list.
func listOf(one format) format {
	return func(value string) string {
		for _, word := range splitList(value) {
			if complaint := one(word); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}

// splitList splits a list as the platform does: by commas, semicolons, NUL or spaces.
func splitList(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",; \t\n\x00", r) })
}

const dnsLabel = `[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?`

// formats are those of strings that have no parts.
var formats = sync.OnceValue(func() map[string]format {
	configID := matches(`[a-zA-Z][a-zA-Z0-9_-]+`, "invalid configuration ID '%s'")
	ipv4 := addressFormat(netip.Addr.Is4, "value does not look like a valid IPv4 address")
	ipv6 := addressFormat(netip.Addr.Is6, "value does not look like a valid IPv6 address")
	return map[string]format{
		"guest-id":         matches(`[1-9][0-9]{2,8}`, "value does not look like a valid VM ID"),
		"node":             matches(dnsLabel, "value does not look like a valid node name"),
		"dns-name":         matches(`(?:`+dnsLabel+`\.)*`+dnsLabel, "value does not look like a valid DNS name"),
		"storage-id":       matches(`[a-zA-Z][a-zA-Z0-9\-_.]*[a-zA-Z0-9]`, "storage ID '%s' contains illegal characters"),
		"configid":         configID,
		"configid-list":    listOf(configID),
		"poolid":           matches(`[A-Za-z0-9.\-_]+(?:/[A-Za-z0-9.\-_]+){0,2}`, "pool name '%s' contains invalid characters"),
		"bridge-id":        matches(`[-_.\w]+`, "invalid bridge"),
		"mac-addr":         matches(`(?i)[a-f0-9][02468ace](?::[a-f0-9]{2}){5}`, "value does not look like a valid unicast MAC address"),
		"disk-size":        matches(`\d+(?:\.\d+)?(?:[KMGT](?:iB)?)?`, "value does not look like a valid disk size: %s"),
		"urlencoded":       matches(`[-%a-zA-Z0-9_.!~*'()]*`, "invalid urlencoded string: %s"),
		"drive-file":       matches(`none|cdrom|/.*|[a-zA-Z][a-zA-Z0-9\-_.]*[a-zA-Z0-9]:.+|\d+(?:\.\d+)?`, "unable to parse volume ID '%s'"),
		"volume-id":        matches(`[a-zA-Z][a-zA-Z0-9\-_.]*[a-zA-Z0-9]:.+`, "unable to parse volume ID '%s'"),
		"tag-list":         listOf(matches(`(?i)[a-z0-9_][a-z0-9_\-+.]*`, "invalid characters in tag")),
		"address-list":     listOf(matches(`[0-9a-fA-F.:]+|`+dnsLabel+`(?:\.`+dnsLabel+`)*`, "value does not look like a valid address: %s")),
		"content-type":     matches(contentTypes, "invalid content type '%s'"),
		"content-list":     listOf(matches(contentTypes, "invalid content type '%s'")),
		"status-type-list": listOf(matches(`(?i)ok|error|warning|unknown`, "invalid status '%s'")),
		"hotplug":          matches(`[01]|(?:network|disk|cpu|memory|usb|cloudinit)(?:[,; ](?:network|disk|cpu|memory|usb|cloudinit))*`, "unable to parse hotplug option"),
		"startup":          matches(`(?:order=)?\d+(?:,(?:up|down)=\d+)*|(?:up|down)=\d+(?:,(?:up|down)=\d+)*`, "unable to parse startup options"),
		"ipv4":             ipv4,
		"ipv6":             ipv6,
		"ipv4-config":      orNetwork(`dhcp|manual`, netip.Addr.Is4, "value does not look like a valid ipv4 network configuration"),
		"ipv6-config":      orNetwork(`auto|dhcp|manual`, netip.Addr.Is6, "value does not look like a valid ipv6 network configuration"),
		"hex-uuid":         matches(`[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}`, "invalid format - value does not look like a valid UUID"),
		"boot-order":       listOf(matches(`(?:ide|sata|scsi|virtio|efidisk|net|hostpci|usb)\d+`, "invalid boot device '%s'")),
		"cpu-model":        matches(`[a-zA-Z0-9\-_.]+`, "invalid CPU model '%s'"),
	}
})

const contentTypes = `images|rootdir|vztmpl|iso|backup|snippets|import|none`

func addressFormat(is func(netip.Addr) bool, complaint string) format {
	return func(value string) string {
		if a, err := netip.ParseAddr(value); err == nil && is(a) {
			return ""
		}
		return complaint + "\n"
	}
}

// orNetwork accepts some words, and networks of a prefix of more than 7 bits.
func orNetwork(words string, is func(netip.Addr) bool, complaint string) format {
	word := regexp.MustCompile("^(?:" + words + ")$")
	return func(value string) string {
		n, err := netip.ParsePrefix(value)
		if word.MatchString(value) || err == nil && is(n.Addr()) && n.Bits() > 7 {
			return ""
		}
		return complaint + "\n"
	}
}

// checkFormat returns what is wrong with a value; empty: nothing.
func checkFormat(name, path, value string) string {
	if check := formats()[name]; check != nil {
		return check(value)
	}
	_, complaint := parseOption(name, path, value)
	return complaint
}
