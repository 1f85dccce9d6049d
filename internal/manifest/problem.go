// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Problem is one thing that is wrong with a manifest.
type Problem struct {
	// Line of the file; 0 means the file as a whole.
	Line int
	// Field is the path of the field, such as spec.cluster.controlPlane.cpu.
	Field   string
	Message string
}

// Invalid is what a manifest is refused with: everything that is wrong with it.
type Invalid struct {
	File     string
	Problems []Problem
}

// Error is a line per problem, in the form that editors and compilers use.
func (e *Invalid) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		place := e.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", e.File, p.Line)
		}
		if p.Field != "" {
			place += ": " + p.Field
		}
		lines = append(lines, place+": "+p.Message)
	}
	return strings.Join(lines, "\n")
}

// Summary is all of it in one sentence.
func (e *Invalid) Summary() string {
	if len(e.Problems) == 1 {
		return fmt.Sprintf("1 problem in %s; nothing was changed", e.File)
	}
	return fmt.Sprintf("%d problems in %s; nothing was changed", len(e.Problems), e.File)
}

// Refuse is the error for these problems; without any it is nil.
func (m *Manifest) Refuse(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return &Invalid{File: m.file, Problems: slices.Compact(problems)}
}

// At is a problem with a field of one of the manifest's objects. A field that
// the file does not have is found where it would be.
func (m *Manifest) At(object client.Object, field, message string) Problem {
	p := Problem{Field: field, Message: message}
	if d := m.sources[object]; d != nil {
		p.Line = d.locate(field)
	}
	return p
}

// fieldText matches a text that begins with a field of an object.
var fieldText = regexp.MustCompile(`^((?:spec|metadata)[\w.\-/\[\]]*\w\]?):? (.+)$`)

// ProblemsIn returns the problems with an object in an error, one per line.
func (m *Manifest) ProblemsIn(object client.Object, err error) (out []Problem) {
	if err == nil {
		return nil
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		field, message := "", line
		if parts := fieldText.FindStringSubmatch(line); parts != nil && !strings.HasPrefix(parts[2], "and ") {
			field, message = parts[1], parts[2]
		}
		out = append(out, m.At(object, field, message))
	}
	return out
}
