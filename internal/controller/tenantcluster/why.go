// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/internal/step"
)

// trouble is what an object of Cluster API itself says about why it is not ready: a terminal
// failure, or the first condition that is not true, Ready last: it sums up others, where there
// are others. One with a message comes before one with a reason alone, as some providers have it
// for what they wait for. It is empty if the object says nothing.
func trouble(o *unstructured.Unstructured) string {
	if message := text(o, "status", "failureMessage"); message != "" {
		return ": " + message
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	summary, bare := "", ""
	for _, each := range conditions {
		c, _ := each.(map[string]any)
		message, _ := c["message"].(string)
		message = strings.Join(strings.Fields(message), " ")
		switch {
		case c["status"] == "True":
		case message == "" && bare == "":
			bare = reasonOf(c)
		case message == "":
		case c["type"] == "Ready":
			summary = ": " + message
		default:
			return fmt.Sprintf(": %v is %v (%s)", c["type"], c["status"], message)
		}
	}
	if summary != "" {
		return summary
	}
	return bare
}

// reasonOf is the reason of a condition that is false: those that were never looked at say nothing,
// and those that are false when all is well neither.
func reasonOf(c map[string]any) string {
	reason, _ := c["reason"].(string)
	kind, _ := c["type"].(string)
	if reason == "" || c["status"] != "False" || slices.Contains([]string{"Paused", "Deleting", "ScalingUp", "ScalingDown", "RollingOut", "Remediating", "Updating"}, kind) {
		return ""
	}
	return fmt.Sprintf(": %v is False (%s)", c["type"], reason)
}

// falseMessage is the message of a condition that is false; empty if it is not. From v1beta2 on
// Cluster API has some conditions only among those of v1beta1.
func falseMessage(o *unstructured.Unstructured, kind string) string {
	for _, place := range [][]string{{"status", "conditions"}, {"status", "deprecated", "v1beta1", "conditions"}} {
		conditions, _, _ := unstructured.NestedSlice(o.Object, place...)
		for _, each := range conditions {
			if c, _ := each.(map[string]any); c["type"] == kind && c["status"] == "False" {
				message, _ := c["message"].(string)
				return strings.Join(strings.Fields(message), " ")
			}
		}
	}
	return ""
}

// setTrouble is why Cluster API creates no machine: there is no other object yet that says so.
func (s *session) setTrouble() string {
	for i := range s.sets {
		if message := falseMessage(&s.sets[i], "MachinesCreated"); message != "" {
			return "; no machine is created: " + step.Stable(errors.New(message))
		}
	}
	return ""
}
