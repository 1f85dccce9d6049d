// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlnode "go.yaml.in/yaml/v4"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is one of the objects of a file.
type document struct {
	// line of the file that the document starts at.
	line int
	data []byte
	// root knows where each field stands.
	root *yamlnode.Node
	// content is what the fields hold, as Kubernetes reads YAML.
	content map[string]any
}

// separator is where a document starts, or where one ends.
var separator = regexp.MustCompile(`^(---|\.\.\.)(\s|$)`)

// split takes a file apart, so that what cannot be read in one document hides
// nothing in the others. What stands behind a separator belongs to the next one.
func split(data []byte) (out []*document) {
	current := &document{line: 1}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if separator.Match(line) {
			out = append(out, current)
			current = &document{line: i + 1}
			line = bytes.TrimPrefix(line, []byte("..."))
		}
		current.data = append(current.data, line...)
	}
	return append(out, current)
}

// otherText is a file that is no text in UTF-8, such as one of a Windows shell.
func otherText(data []byte) *Problem {
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return &Problem{Line: i + 1, Message: "this is not UTF-8; save the file in that encoding"}
		}
	}
	return nil
}

// read parses the document. One with nothing but comments has no content.
func (d *document) read() *Problem {
	var node yamlnode.Node
	if err := yamlnode.Unmarshal(d.data, &node); err != nil {
		return d.unreadable(err)
	}
	if len(node.Content) == 0 || node.Content[0].Tag == "!!null" {
		return nil
	}
	d.root = node.Content[0]
	if d.root.Kind != yamlnode.MappingNode {
		return &Problem{Line: d.at(d.root), Message: "an object is expected here, with apiVersion and kind"}
	}
	text, err := yaml.YAMLToJSON(d.data)
	if err == nil {
		err = json.Unmarshal(text, &d.content)
	}
	if err != nil {
		return d.unreadable(err)
	}
	return nil
}

// The parser says where it stopped: by a line, last, behind where it began, or
// by an offset.
var (
	lineOf   = regexp.MustCompile(`^.*\bline (\d+)(?:, column \d+)?: `)
	offsetOf = regexp.MustCompile(`^.*\boffset (\d+): `)
)

// unreadable is a document that is no YAML. The parser counts from the start of
// the document.
func (d *document) unreadable(err error) *Problem {
	text, line := err.Error(), 1
	if found := lineOf.FindStringSubmatch(text); found != nil {
		line, _ = strconv.Atoi(found[1])
		text = strings.TrimPrefix(text, found[0])
	} else if found := offsetOf.FindStringSubmatch(text); found != nil {
		offset, _ := strconv.Atoi(found[1])
		line += bytes.Count(d.data[:min(offset, len(d.data))], []byte("\n"))
		text = strings.TrimPrefix(text, found[0])
	}
	p := &Problem{Line: d.line + line - 1, Message: "this is not YAML: " + strings.TrimPrefix(text, "yaml: ")}
	if lines := bytes.Split(d.data, []byte("\n")); line <= len(lines) && tabbed.Match(lines[line-1]) {
		p.Message += "; indent with spaces, not tabs"
	}
	return p
}

var tabbed = regexp.MustCompile(`^ *\t`)

// at is the line of the file that a node stands at.
func (d *document) at(n *yamlnode.Node) int { return d.line + n.Line - 1 }

// start is the line that the object begins at, behind its comments.
func (d *document) start() int {
	if d.root == nil || len(d.root.Content) == 0 {
		return d.line
	}
	return d.at(d.root.Content[0])
}

// locate is the line of a field, or of the nearest one around it that the
// document has.
func (d *document) locate(field string) int {
	line, node := d.start(), d.root
	for rest := field; node != nil && rest != ""; {
		if node.Kind == yamlnode.AliasNode {
			node = node.Alias
		}
		rest = strings.TrimPrefix(rest, ".")
		key, value, left := descend(node, rest)
		if key == nil {
			break
		}
		line, node, rest = d.at(key), value, left
	}
	return line
}

// descend takes the first part of a path: the longest key that it starts with,
// or an index.
func descend(node *yamlnode.Node, path string) (key, value *yamlnode.Node, rest string) {
	if node.Kind == yamlnode.SequenceNode {
		index, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(index)
		if !ok || err != nil || i < 0 || i >= len(node.Content) {
			return nil, nil, ""
		}
		return node.Content[i], node.Content[i], rest
	}
	longest := -1
	for i := 0; node.Kind == yamlnode.MappingNode && i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		left, ok := cutKey(path, name)
		if ok && len(name) > longest {
			longest, key, value, rest = len(name), node.Content[i], node.Content[i+1], left
		}
	}
	return key, value, rest
}

// cutKey removes a key from the front of a path, where it stands as name or as
// [name].
func cutKey(path, name string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+name+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(path, name)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// doubled finds fields that are set more than once.
func (d *document) doubled(node *yamlnode.Node, path string) (out []Problem) {
	switch node.Kind {
	case yamlnode.SequenceNode:
		for i, item := range node.Content {
			out = append(out, d.doubled(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case yamlnode.MappingNode:
		first := map[string]int{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			field := child(path, key.Value)
			if line, ok := first[key.Value]; ok {
				out = append(out, Problem{Line: d.at(key), Field: field, Message: fmt.Sprintf("is set twice, on line %d too; remove one", line)})
			}
			first[key.Value] = d.at(key)
			out = append(out, d.doubled(node.Content[i+1], field)...)
		}
	default: // nothing is below it
	}
	return out
}

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// text is a field of the document's top level.
func (d *document) text(field string) string {
	s, _ := d.content[field].(string)
	return s
}

// decode fills an object with the content.
func (d *document) decode(into any) error {
	data, err := json.Marshal(d.content)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
