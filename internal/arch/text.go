// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
)

// textsOf returns the texts of a file by line; nil for one that is not checked.
func textsOf(path, name string) (map[int]string, error) {
	switch {
	case strings.HasSuffix(name, ".md") || strings.HasSuffix(name, "NOTES.txt"):
		content, err := os.ReadFile(path)
		return pageTexts(string(content)), err
	case name == "internal/arch/words.go" || name == "internal/arch/words_test.go": // the list itself
		return nil, nil
	case strings.HasSuffix(name, ".go"):
		return goTexts(path)
	}
	return nil, nil
}

// pageTexts returns the lines of a page without code.
func pageTexts(page string) map[int]string {
	code := regexp.MustCompile("`[^`]*`")
	texts, fenced := map[int]string{}, false
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			texts[i+1] = code.ReplaceAllString(line, "")
		}
	}
	return texts
}

// goTexts returns the comments, the sentences in strings and the names of functions and
// types of a Go file.
func goTexts(path string) (map[int]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	texts := map[int]string{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			texts[files.Position(c.Pos()).Line] += c.Text
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text := textOf(n); text != "" {
			texts[files.Position(n.Pos()).Line] += text + "\n"
		}
		return true
	})
	return texts, nil
}

// textOf returns a string with a space, or the name of a function or type in words.
func textOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind == token.STRING && strings.Contains(n.Value, " ") {
			return n.Value
		}
	case *ast.FuncDecl:
		return spaced(n.Name.Name)
	case *ast.TypeSpec:
		return spaced(n.Name.Name)
	}
	return ""
}

// capital begins a word of a name in camel case.
var capital = regexp.MustCompile(`[A-Z][a-z]`)

// spaced returns the words of a name in camel case. A stand-in is a word of the glossary.
func spaced(name string) string {
	return capital.ReplaceAllString(strings.ReplaceAll(name, "StandIn", "Standin"), " $0")
}
