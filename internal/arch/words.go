// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// word is a word that texts avoid, and what they say instead.
type word struct {
	avoid   *regexp.Regexp
	instead string
}

// words are the words that texts avoid. A reader should not stop at one.
func words() []word {
	avoid := func(pattern, instead string) word {
		return word{regexp.MustCompile(`(?i)\b(` + pattern + `)\b`), instead}
	}
	return []word{
		avoid("tells?|told|telling|teller", "report, return, record, log"),
		avoid("somebody|nobody|anybody|whoever", "the caller, another process, no plane, an operator"),
		avoid("strangers?", "a conflicting VM, another owner"),
		avoid("worlds?", "simulator, fixture"),
		avoid("anew", "again, recreate"),
		avoid("doomed|farewell|mortal|perish(es)?|estates?", "target, check, with faults, stop, owned objects"),
		avoid("leads? to|led to", "points to, results in"),
		avoid("goes on|go on|going on", "continues"),
		avoid("stands? (in|for|on|still)|stood", "is in, represents, blocks"),
		avoid("comes? to nothing|came to nothing", "fails, has no effect"),
		avoid("surroundings", "environment"),
		avoid("mends?|mended", "fix, repair, correct"),
	}
}

// Wording names the texts below root that use a word to avoid: pages, and comments and
// messages of Go files but tests.
func Wording(root string) (found []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return skipHidden(path, root, e, err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		texts, err := textsOf(path, filepath.ToSlash(name))
		for line, text := range texts {
			found = append(found, usesIn(name, line, text)...)
		}
		return err
	})
	return found, err
}

func skipHidden(path, root string, e fs.DirEntry, err error) error {
	if err == nil && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin") {
		return fs.SkipDir
	}
	return err
}

// textsOf returns the texts of a file by line; nil for one that is not checked.
func textsOf(path, name string) (map[int]string, error) {
	switch {
	case strings.HasSuffix(name, ".md") || strings.HasSuffix(name, "NOTES.txt"):
		content, err := os.ReadFile(path)
		return pageTexts(string(content)), err
	case name == "internal/arch/words.go": // the list itself
		return nil, nil
	case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
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

// goTexts returns the comments and the sentences in strings of a Go file.
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
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && strings.Contains(s.Value, " ") {
			texts[files.Position(s.Pos()).Line] += s.Value
		}
		return true
	})
	return texts, nil
}

func usesIn(name string, line int, text string) (found []string) {
	for _, w := range words() {
		if use := w.avoid.FindString(text); use != "" {
			found = append(found, fmt.Sprintf("%s:%d: %q; instead: %s", name, line, use, w.instead))
		}
	}
	return found
}
