// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/provider"
)

const pageRoot = "../.."

// wholeApp has the commands of the released program.
func wholeApp() App {
	var a App
	for _, t := range []v1alpha1.ProviderType{"harvester", "nutanix", "proxmox", "aws", "gcp", "azure"} {
		a.Providers = append(a.Providers, provider.Provider{Type: t})
		a.Simulators = append(a.Simulators, facade.Platform{Type: t})
	}
	return a
}

// pages are the texts of all pages for users, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(pageRoot, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != pageRoot && (strings.HasPrefix(e.Name(), ".") || slices.Contains([]string{"bin", "dist", "testdata"}, e.Name())) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(filepath.ToSlash(path), pageRoot+"/")] = string(data)
		return err
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}

var (
	fence  = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")
	inline = regexp.MustCompile("`([^`\n]+)`")
)

// commandsOf are the commands of a page, in blocks and in sentences, each on a line.
func commandsOf(page string) (lines []string) {
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		if block[1] == "sh" || block[1] == "console" || block[1] == "" {
			lines = append(lines, strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n")...)
		}
	}
	for _, span := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		lines = append(lines, strings.ReplaceAll(span[1], `\|`, "|"))
	}
	return lines
}

func TestPagesNameCommandsAndFlagsThatExist(t *testing.T) {
	found, root := 0, wholeApp().Command()
	for name, page := range pages(t) {
		for _, line := range commandsOf(page) {
			args, ok := butleradm(line)
			if !ok {
				continue
			}
			found++
			if err := understood(root, args); err != nil {
				t.Errorf("%s: %q: %v", name, line, err)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}

// butleradm returns the arguments of a line that calls it.
func butleradm(line string) ([]string, bool) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
	for _, end := range []string{" | ", " > ", " # ", " && ", ";", " 2>", "…"} {
		line, _, _ = strings.Cut(line, end)
	}
	args := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(line))
	for len(args) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(args[0]) {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "butleradm" && args[0] != "bin/butleradm" {
		return nil, false
	}
	return args[1:], true
}

// understood walks down to the command and looks for its flags. A word in capitals is a
// placeholder.
func understood(c *cobra.Command, args []string) error {
	for i, arg := range args {
		switch {
		case arg == "--":
			return nil
		case strings.HasPrefix(arg, "-"):
			if !hasFlag(c, arg) {
				return fmt.Errorf("%s has no flag %s", c.CommandPath(), arg)
			}
		case !c.HasAvailableSubCommands() || arg == strings.ToUpper(arg) || c.HasParent() && i > 0 && strings.HasPrefix(args[i-1], "-"):
		default:
			for each := range strings.SplitSeq(arg, "|") {
				if subcommand(c, each) == nil && !slices.Contains([]string{"help", "completion"}, each) && regexp.MustCompile(`^[a-z-]+$`).MatchString(each) {
					return fmt.Errorf("%s has no command %q", c.CommandPath(), each)
				}
			}
			if next := subcommand(c, arg); next != nil {
				c = next
			} else {
				return nil // several at once
			}
		}
	}
	return nil
}

func subcommand(c *cobra.Command, name string) *cobra.Command {
	for _, each := range c.Commands() {
		if each.Name() == name || each.HasAlias(name) {
			return each
		}
	}
	return nil
}

// hasFlag looks at a command, those above it and, for a group, those below it.
func hasFlag(c *cobra.Command, arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if name == "help" || name == "h" || name == "version" {
		return true
	}
	known := func(s *pflag.FlagSet) bool {
		return s.Lookup(name) != nil || len(name) == 1 && s.ShorthandLookup(name) != nil
	}
	return known(c.Flags()) || known(c.InheritedFlags()) || slices.ContainsFunc(c.Commands(), func(each *cobra.Command) bool { return hasFlag(each, arg) })
}

// otherFlags are flags of other programs that pages name.
var otherFlags = []string{
	"--app-version", "--flatten", "--namespace", "--selector", "--set", "--output", // kubectl and helm
	"--help", "--tags", "--run", "--version", "--update", "--all-namespaces",
}

func TestPagesNameFlagsThatExist(t *testing.T) {
	known := sourceFlags(t)
	for name, page := range pages(t) {
		for _, span := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			flag := regexp.MustCompile(`^--[a-z][a-z-]*`).FindString(span[1])
			if flag != "" && !known[flag] && !slices.Contains(otherFlags, flag) && !ofLibrary(name) {
				t.Errorf("%s: there is no flag %s", name, flag)
			}
		}
	}
}

// ofLibrary reports whether a page is about programs of others.
func ofLibrary(page string) bool { return strings.HasPrefix(page, "docs/adr/") }

// sourceFlags are the flags of all programs: of commands, and as controllers and tools define them.
func sourceFlags(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { all["--"+f.Name] = true })
		for _, each := range c.Commands() {
			visit(each)
		}
	}
	visit(wholeApp().Command())
	defined := regexp.MustCompile(`(?:Var|Func|Bool|String|Duration|Int|Uint64)\((?:&[\w.]+, )?"([a-z][a-z-]*)"`)
	for _, dir := range []string{"internal/controller", "provider/serve", "cmd", "hack", "internal/plane"} {
		err := filepath.WalkDir(filepath.Join(pageRoot, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			data, err := os.ReadFile(path)
			for _, m := range defined.FindAllSubmatch(data, -1) {
				all["--"+string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestBlocksOfPagesNameFilesAndTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(pageRoot, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages(t) {
		for _, line := range scriptLines(page) {
			for _, target := range targets(line) {
				if !strings.Contains(string(makefile), "\n"+target+":") {
					t.Errorf("%s: there is no target %q", name, target)
				}
			}
			for _, file := range files(line) {
				if _, err := os.Stat(filepath.Join(pageRoot, file)); errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %q: there is no %s", name, line, file)
				}
			}
		}
	}
}

// scriptLines are the lines of a page's blocks of shell commands, without remarks.
func scriptLines(page string) (lines []string) {
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		if block[1] != "sh" {
			continue
		}
		for line := range strings.SplitSeq(block[2], "\n") {
			line, _, _ = strings.Cut(line, " #")
			lines = append(lines, line)
		}
	}
	return lines
}

// targets are those of a call of make.
func targets(line string) []string {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "make" {
		return nil
	}
	return slices.DeleteFunc(words[1:], func(w string) bool { return !regexp.MustCompile(`^[a-z-]+$`).MatchString(w) })
}

// files are those of the repository that a command names.
func files(line string) (found []string) {
	file := regexp.MustCompile(`^(?:\./)?((?:configs|docs|charts|hack|manifests|config|internal)/[\w./-]+)$`)
	for word := range strings.FieldsSeq(line) {
		if m := file.FindStringSubmatch(word); m != nil {
			found = append(found, m[1])
		}
	}
	return found
}

func TestCommandsOfPagesAreUnderstood(t *testing.T) {
	root := wholeApp().Command()
	for line, want := range map[string]string{
		"butleradm bootstrap harvester -c FILE --rehearse":     "",
		"bin/butleradm status > file":                          "",
		"BUTLER_HOME=x butleradm status butler-mgmt":           "",
		"butleradm tenant list|status CLUSTER":                 "",
		"butleradm destroy CLUSTER [--dry-run]":                "",
		"butleradm frobnicate":                                 `butleradm has no command "frobnicate"`,
		"butleradm bootstrap openstack -c FILE":                `butleradm bootstrap has no command "openstack"`,
		"butleradm status --frobnicate":                        "butleradm status has no flag --frobnicate",
		"butleradm tenant list|frobnicate":                     `butleradm tenant has no command "frobnicate"`,
		"butleradm bootstrap harvester -c cluster.yaml --nope": "butleradm bootstrap harvester has no flag --nope",
	} {
		args, ok := butleradm(line)
		if !ok {
			t.Errorf("%q is not seen as a command", line)
			continue
		}
		if err := understood(root, args); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
	if len(slices.Collect(maps.Keys(sourceFlags(t)))) < 30 {
		t.Error("hardly any flag was found")
	}
}
