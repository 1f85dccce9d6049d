// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"io/fs"
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

// Wording names the texts below root that use a word to avoid: pages, and the comments,
// the messages and the names of functions and types of Go files, tests among them. A
// string without a space is data: the name of a machine, for example.
func Wording(root string) (found []string, err error) {
	avoided := words()
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
			found = append(found, usesIn(name, line, text, avoided)...)
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

func usesIn(name string, line int, text string, avoided []word) (found []string) {
	for _, w := range avoided {
		if use := w.avoid.FindString(text); use != "" {
			found = append(found, fmt.Sprintf("%s:%d: %q; instead: %s", name, line, use, w.instead))
		}
	}
	return found
}
