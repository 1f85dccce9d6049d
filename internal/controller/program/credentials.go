// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Credentials are the Secrets that a program reads credentials from. The zero value
// is all of them.
type Credentials struct {
	// Namespaces are read whole.
	Namespaces []string
	// Secrets are read besides.
	Secrets []types.NamespacedName
	// Limited is set if there are no others, be the lists empty.
	Limited bool
}

// Allows reports whether a Secret may be read.
func (c Credentials) Allows(name types.NamespacedName) bool {
	return !c.Limited || slices.Contains(c.Namespaces, name.Namespace) || slices.Contains(c.Secrets, name)
}

// String lists the Secrets for a message.
func (c Credentials) String() string {
	var all []string
	for _, s := range c.Secrets {
		all = append(all, s.String())
	}
	for _, n := range c.Namespaces {
		all = append(all, "all of namespace "+n)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// flags limits the credentials as soon as one of them is given.
func (c *Credentials) flags(f *flag.FlagSet) {
	f.Func("credentials-secrets", "`list` of the Secrets that credentials are read from, as namespace/name, separated by commas (default: all)", c.addSecrets)
	f.Func("credentials-namespaces", "`list` of namespaces all of whose Secrets are read besides, separated by commas", c.addNamespaces)
}

// addSecrets takes an empty list, too: no Secret is read then.
func (c *Credentials) addSecrets(text string) error {
	c.Limited = true
	if text == "" {
		return nil
	}
	for item := range strings.SplitSeq(text, ",") {
		namespace, name, ok := strings.Cut(item, "/")
		if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("%q is not the namespace/name of a Secret", item)
		}
		if s := (types.NamespacedName{Namespace: namespace, Name: name}); !slices.Contains(c.Secrets, s) {
			c.Secrets = append(c.Secrets, s)
		}
	}
	return nil
}

func (c *Credentials) addNamespaces(text string) error {
	c.Limited = true
	for name := range strings.SplitSeq(text, ",") {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return fmt.Errorf("%q is not a namespace: %s", name, strings.Join(wrong, "; "))
		}
		if !slices.Contains(c.Namespaces, name) {
			c.Namespaces = append(c.Namespaces, name)
		}
	}
	return nil
}
