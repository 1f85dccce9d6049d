// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Status is a page about one cluster. Texts that are empty are left out.
type Status struct {
	Cluster *v1alpha1.ClusterBootstrap
	// Plane is the plane that is in charge of the cluster.
	Plane string
	// Message is the present obstacle.
	Message string
	// Orphans and Copies are the objects of the cluster on the platform that no request
	// owns.
	Orphans, Copies string
	// Phases is how long each phase took, Remaining how long the bootstrap still takes,
	// Credentials when those of the cluster end.
	Phases, Remaining, Credentials string
	Warnings                       []string
	// Requests of machines, by name, whose addresses and IDs are shown.
	Requests map[string]v1alpha1.MachineRequest
}

// statusIndent is the width of the row names.
const statusIndent = 11

// Print writes the page.
func (s Status) Print(w io.Writer) error {
	out := &strings.Builder{}
	for _, row := range s.rows() {
		if row[1] == "" {
			continue
		}
		lines := Wrap(row[1], Columns-statusIndent)
		fmt.Fprintf(out, "%-*s%s\n", statusIndent, row[0]+":", strings.Join(lines, "\n"+strings.Repeat(" ", statusIndent)))
	}
	printMachines(out, s.Cluster.Status.Machines)
	printRequests(out, s.Cluster.Status.Machines, s.Requests)
	printAddons(out, s.Cluster.Status.Addons)
	_, err := io.WriteString(w, out.String())
	return err
}

func (s Status) rows() [][2]string {
	cb := s.Cluster
	rows := [][2]string{
		{"cluster", cb.Spec.Cluster.Name},
		{"phase", string(StateOf(cb).Phase)},
		{"phases", s.Phases},
		{"remaining", s.Remaining},
		{"endpoint", cb.Status.ControlPlaneEndpoint},
		{"addresses", pooled(cb)},
		{"console", cb.Status.ConsoleURL},
		{"plane", s.Plane},
		{"addons", addonsReady(cb.Status.Addons)},
		{"message", s.Message},
		{"valid", s.Credentials},
		{"orphans", s.Orphans},
		{"copies", s.Copies},
	}
	for _, w := range s.Warnings {
		rows = append(rows, [2]string{"warning", w})
	}
	return rows
}

func printMachines(w io.Writer, machines []v1alpha1.BootstrapMachineStatus) {
	if len(machines) == 0 {
		return
	}
	fmt.Fprintln(w)
	out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "MACHINE\tROLE\tPHASE\tADDRESS\tTALOS\tNODE")
	for _, m := range machines {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Role, m.Phase, m.IPAddress,
			word(m.TalosConfigured, "configured"), word(m.Ready, "Ready"))
	}
	_ = out.Flush() // to a text
}

// printRequests prints what the platform reports of machines: all addresses, and IDs.
func printRequests(w io.Writer, machines []v1alpha1.BootstrapMachineStatus, requests map[string]v1alpha1.MachineRequest) {
	if len(requests) == 0 {
		return
	}
	fmt.Fprintln(w)
	out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "MACHINE\tADDRESSES\tID ON THE PLATFORM")
	for _, m := range machines {
		r := requests[m.Name].Status
		fmt.Fprintf(out, "%s\t%s\t%s\n", m.Name, strings.Join(r.IPAddresses, " "), r.ProviderID)
	}
	_ = out.Flush() // to a text
}

// addonsReady returns how many addons are ready, as text.
func addonsReady(addons []v1alpha1.BootstrapAddonStatus) string {
	if len(addons) == 0 {
		return ""
	}
	ready := readyAddons(addons)
	return fmt.Sprintf("%d of %d ready, %s", ready, len(addons), percent(ready, len(addons)))
}

// printAddons prints the addons, each with what it waits for or why it fails.
func printAddons(w io.Writer, addons []v1alpha1.BootstrapAddonStatus) {
	if len(addons) == 0 {
		return
	}
	name, version := len("ADDON"), len("VERSION")
	for _, a := range addons {
		name, version = max(name, len(a.Name)), max(version, len(a.Version))
	}
	fmt.Fprintf(w, "\n%-*s  %-*s  PHASE\n", name, "ADDON", version, "VERSION")
	for _, a := range addons {
		fmt.Fprintf(w, "%-*s  %-*s  %s\n", name, a.Name, version, a.Version, a.Phase)
		if a.Message != "" && a.Phase != v1alpha1.AddonReady {
			fmt.Fprintln(w, "  "+strings.Join(Wrap(a.Message, Columns-2), "\n  "))
		}
	}
}

func word(is bool, text string) string {
	if is {
		return text
	}
	return "-"
}
