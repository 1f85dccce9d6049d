// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package starter turns an example manifest into the beginning of a user's own: it finds the
// values that are worth asking for, and replaces them where they are written, so that all
// comments stay.
package starter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Value is a value of a manifest that users replace.
type Value struct {
	// Kind and Path of its field; entries of a list have a number.
	Kind, Path string
	// Text is the value as it is.
	Text string

	line, column int // of its beginning, from 1
	length       int
}

// Field is the path without the numbers of entries.
func (v Value) Field() string {
	var out []string
	for part := range strings.SplitSeq(v.Path, ".") {
		if i := strings.IndexByte(part, '['); i >= 0 {
			part = part[:i]
		}
		out = append(out, part)
	}
	return strings.Join(out, ".")
}

// asked are the beginnings of the fields that depend on the site.
func asked(kind, path string) bool {
	switch kind {
	case "ClusterBootstrap":
		return slices.Contains([]string{
			"spec.cluster.name", "spec.network.vip", "spec.network.loadBalancerPool.start", "spec.network.loadBalancerPool.end",
		}, path)
	case "ProviderConfig":
		return strings.Count(path, ".") > 1 && strings.HasPrefix(path, "spec.") && !strings.HasPrefix(path, "spec.credentialsRef")
	}
	return false
}

// Values returns the values of a manifest that depend on the site, in their order.
func Values(manifest []byte) (out []Value, err error) {
	documents := yaml.NewDecoder(bytes.NewReader(manifest))
	for {
		var d yaml.Node
		if err := documents.Decode(&d); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		if len(d.Content) == 1 {
			out = append(out, collect(kindOf(d.Content[0]), "", d.Content[0])...)
		}
	}
	slices.SortStableFunc(out, func(a, b Value) int { return strings.Compare(a.Kind, b.Kind) })
	return out, nil
}

func kindOf(n *yaml.Node) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "kind" {
			return n.Content[i+1].Value
		}
	}
	return ""
}

func collect(kind, path string, n *yaml.Node) (out []Value) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out = append(out, collect(kind, strings.TrimPrefix(path+"."+n.Content[i].Value, "."), n.Content[i+1])...)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			out = append(out, collect(kind, fmt.Sprintf("%s[%d]", path, i), c)...)
		}
	case yaml.ScalarNode:
		if asked(kind, path) {
			out = append(out, Value{Kind: kind, Path: path, Text: n.Value, line: n.Line, column: n.Column, length: written(n)})
		}
	default: // documents are entered before, and manifests have no aliases
	}
	return out
}

// written is how many characters a value has in the file.
func written(n *yaml.Node) int {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return len(n.Value) + 2
	}
	return len(n.Value)
}

// Replace returns the manifest with other texts in place of values. A cluster's name is also
// that of its ClusterBootstrap.
func Replace(manifest []byte, values []Value, texts []string) []byte {
	lines := strings.Split(string(manifest), "\n")
	for i, v := range slices.Backward(values) {
		if texts[i] == v.Text {
			continue
		}
		line := lines[v.line-1]
		lines[v.line-1] = line[:v.column-1] + quoted(texts[i]) + line[v.column-1+v.length:]
	}
	text := strings.Join(lines, "\n")
	for i, v := range values {
		if v.Path == "spec.cluster.name" && texts[i] != v.Text {
			text = strings.Replace(text, "\n  name: "+v.Text+"\n", "\n  name: "+texts[i]+"\n", 1)
		}
	}
	return []byte(text)
}

// quoted is a text as a YAML value of its own type.
func quoted(text string) string {
	var n yaml.Node
	if yaml.Unmarshal([]byte(text), &n) == nil && len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Value == text && !strings.Contains(text, "#") {
		return text
	}
	return fmt.Sprintf("%q", text)
}
