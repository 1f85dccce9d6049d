// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespaces is a flag with a list of namespaces; empty means all of them.
type Namespaces []string

// String is the list as the flag takes it.
func (n *Namespaces) String() string { return strings.Join(*n, ",") }

// Set takes a list whose parts are separated by commas.
func (n *Namespaces) Set(text string) error {
	var list Namespaces
	for name := range strings.SplitSeq(text, ",") {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return fmt.Errorf("%q is no namespace: %s", name, strings.Join(wrong, "; "))
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	*n = list
	return nil
}

// cache watches Secrets in these namespaces alone: whoever may read no others
// could not watch all of them.
func (n *Namespaces) cache() cache.Options {
	if n == nil || len(*n) == 0 {
		return cache.Options{}
	}
	those := map[string]cache.Config{}
	for _, name := range *n {
		those[name] = cache.Config{}
	}
	return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: those}}}
}
