// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// edit changes one place of a file that lists providers.
type edit struct {
	path string
	// at matches the place; its first group stays, add comes after it.
	at  string
	add string
}

const module = "github.com/butlerdotdev/butler/"

// lists are the edits that a provider needs. %s is its type.
func (p platform) lists() []edit {
	imports := edit{at: `(\n\tsimharvester "[^"]+"\n)`, add: "\tsim%s \"" + module + "internal/sim/%s\"\n"}
	driver := edit{at: `(\n\t"[^"]+/provider/harvester"\n)`, add: "\t\"" + module + "provider/%s\"\n"}
	simulator := edit{at: `(simharvester\.Platform\(\))`, add: ", sim%s.Platform()"}
	var out []edit
	for path, provider := range map[string]edit{
		"cmd/butleradm/main.go":              {at: `(harvester\.Provider\(\))`, add: ", %s.Provider()"},
		"internal/cli/matrix/faulty/main.go": {at: `(o\.spoil\(harvester\.Provider\(\), m\))`, add: ", o.spoil(%s.Provider(), m)"},
	} {
		for _, e := range []edit{imports, driver, provider, simulator} {
			e.path = path
			out = append(out, e)
		}
	}
	return append(
		out,
		edit{"internal/arch/provider.go", `(var drivers = \[\]string\{"harvester")`, `, "%s"`},
		edit{"charts/render_test.go", `("butler-provider-harvester")`, `, "butler-provider-%s"`},
		edit{"internal/cli/matrix/platform_test.go", `(var harvester string\n)`, "\n//go:embed testdata/%s.yaml\nvar %s string\n"},
		edit{"internal/cli/matrix/platform_test.go", `(\n\t\t\{"harvester", .*\n)`, "\t\t{\"%s\", %s, \"butler-system\", \"\", nil, \"\", \"\", false},\n"},
		edit{"docs/contributing/provider-contract.md", `(\n\| harvester \| load balancers .*\n)`, "| %s | | |\n"},
	)
}

// edits returns the content of the files that list providers, with this one in them.
func (p platform) edits(root string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, e := range p.lists() {
		content, ok := out[e.path]
		if !ok {
			var err error
			if content, err = os.ReadFile(filepath.Join(root, e.path)); err != nil {
				return nil, err
			}
		}
		place := regexp.MustCompile(e.at).FindIndex(content)
		if place == nil {
			return nil, fmt.Errorf("%s has no place for the provider: nothing matches %s", e.path, e.at)
		}
		add := strings.ReplaceAll(e.add, "%s", string(p.Type))
		out[e.path] = []byte(string(content[:place[1]]) + add + string(content[place[1]:]))
	}
	for path, content := range out {
		if !strings.HasSuffix(path, ".go") {
			continue
		}
		formatted, err := format.Source(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out[path] = formatted
	}
	return out, nil
}
