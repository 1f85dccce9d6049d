// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// flaws are what is wrong with the suite itself.
func (s Suite) flaws() []string {
	var found []string
	for name, reason := range s.Unexercised {
		if !slices.Contains(Rules(), name) {
			found = append(found, fmt.Sprintf("Unexercised names %q, which is no rule", name))
		}
		if strings.TrimSpace(reason) == "" {
			found = append(found, fmt.Sprintf("Unexercised gives no reason for %q", name))
		}
	}
	if s.LoadBalancers == nil && s.WithoutLoadBalancers == "" {
		found = append(found, "neither LoadBalancers nor WithoutLoadBalancers is set")
	}
	slices.Sort(found)
	return append(found, s.unrecorded()...)
}

// unrecorded are the rows that the file Record lacks.
func (s Suite) unrecorded() []string {
	rows := s.rows()
	if len(rows) == 0 {
		return nil
	}
	page, err := os.ReadFile(s.Record)
	if err != nil {
		return []string{fmt.Sprintf("rules are not exercised, so Record must name a file that lists them: %v", err)}
	}
	var found []string
	for _, row := range rows {
		if !strings.Contains(string(page), row+"\n") {
			found = append(found, fmt.Sprintf("%s lacks the row\n%s", s.Record, row))
		}
	}
	return found
}

// rows are what is not exercised, as rows of a Markdown table.
func (s Suite) rows() []string {
	var rows []string
	for _, name := range Rules() {
		if reason := s.Unexercised[name]; reason != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |", s.Provider.Type, name, reason))
		}
	}
	if s.WithoutLoadBalancers != "" {
		rows = append(rows, fmt.Sprintf("| %s | load balancers | %s |", s.Provider.Type, s.WithoutLoadBalancers))
	}
	return rows
}

// table is the list of what is not exercised, for the output.
func (s Suite) table() string {
	rows := s.rows()
	if len(rows) == 0 {
		return fmt.Sprintf("%s: every rule of the contract is exercised", s.Provider.Type)
	}
	head := []string{"| provider | not exercised | why |", "|---|---|---|"}
	return strings.Join(append(head, rows...), "\n")
}
