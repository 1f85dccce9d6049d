// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "concepts", "addons.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// everything is the catalogue as one graph, in which all clouds and all
// providers have one node each.
func everything() (keys []string, needs map[string][]string) {
	needs = map[string][]string{}
	for _, r := range catalogue() {
		key := r.key
		if strings.HasPrefix(key, ButlerProvider) {
			key = ButlerProvider + "*"
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		for _, n := range r.needs {
			if !slices.Contains(needs[key], n.key) {
				needs[key] = append(needs[key], n.key)
			}
		}
	}
	return keys, needs
}

// reaches reports whether a needs b by way of others.
func reaches(needs map[string][]string, a, b string) bool {
	return slices.ContainsFunc(needs[a], func(n string) bool {
		return slices.Contains(needs[n], b) || reaches(needs, n, b)
	})
}

// picture is the graph in the language of Mermaid, without arrows that follow
// from others.
func picture() string {
	keys, needs := everything()
	out := []string{"```mermaid", "graph LR"}
	for _, key := range keys {
		out = append(out, fmt.Sprintf("  %s[%q]", key, key))
		for _, n := range needs[key] {
			if !reaches(needs, key, n) {
				out = append(out, fmt.Sprintf("  %s --> %s", n, key))
			}
		}
	}
	return strings.ReplaceAll(strings.Join(append(out, "```"), "\n"), ButlerProvider+"*", ButlerProvider+"x")
}

func TestThePictureOnThePageIsTheGraph(t *testing.T) {
	if want := picture(); !strings.Contains(page(t), want) {
		t.Errorf("docs/concepts/addons.md must have this picture:\n%s", want)
	}
}

func TestEveryAddonIsOnThePageWithItsVersionAndItsPlace(t *testing.T) {
	rows := map[string][]string{}
	for line := range strings.Lines(page(t)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			key := strings.Trim(cells[1], " `")
			rows[key] = append(rows[key], line)
		}
	}
	for _, r := range catalogue() {
		key := r.key
		if strings.HasPrefix(key, ButlerProvider) {
			key = ButlerProvider + "<provider>"
		}
		want := []string{r.version, r.namespace.Name}
		if r.source.Kind == ChartRepository || r.source.Kind == ChartOCI {
			want = append(want, strings.TrimSuffix(r.source.URL, "/"))
		}
		if !slices.ContainsFunc(rows[key], func(row string) bool { return containsEach(row, want) }) {
			t.Errorf("docs/concepts/addons.md has no row for %s with %q", key, want)
		}
	}
	for _, l := range Lines() {
		for _, p := range everyProvider(l) {
			checkProvider(t, rows, p)
		}
	}
}

func TestThePageNamesTheChartsWithAKnownChecksum(t *testing.T) {
	_, listed, _ := strings.Cut(page(t), "| addon, `--charts upstream` | compared with |\n|---|---|\n")
	listed, _, _ = strings.Cut(listed, "\n")
	for _, r := range catalogue() {
		if known := r.digest != ""; known != strings.Contains(listed, "`"+r.key+"`") && r.key != CloudControllerManager {
			t.Errorf("%s: its checksum is known: %t, and the page says\n%s", r.key, known, listed)
		}
		if r.digest != "" && !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(r.digest) {
			t.Errorf("%s has the checksum %q", r.key, r.digest)
		}
	}
}

func TestAKnownChecksumIsThatOfTheDefaultVersion(t *testing.T) {
	for version, known := range map[string]bool{"": true, "1.17.0": true, "1.17.1": false} {
		spec := v1alpha1.ClusterBootstrapSpec{}
		spec.Addons.CNI.Version = version
		i := slices.IndexFunc(catalogue(), func(r row) bool { return r.key == Cilium })
		if a := catalogue()[i].addon(cluster{spec, Facts{}}, nil); (a.Source.Digest != "") != known {
			t.Errorf("version %q: %+v", version, a.Source)
		}
	}
}

// everyProvider are all that go with a line of the core.
func everyProvider(l Line) []Provider {
	all := append(coreProviders(lines(l)), inClusterIPAM(l), kubevirtInfrastructure(l))
	for _, host := range []string{Steward, Kamaji} {
		c := cluster{}
		c.Addons.ControlPlaneProvider.Type = host
		all = append(all, hostedProviders(c, l)...)
	}
	for _, platform := range []v1alpha1.ProviderType{
		v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox, v1alpha1.ProviderGCP, v1alpha1.ProviderAWS, v1alpha1.ProviderAzure,
	} {
		all = append(all, infrastructureOf(platform, l))
	}
	return all
}

// lines is how the page names the releases of a line.
func lines(l Line) string { return fmt.Sprintf("v1.%d", l.Minor) }

func checkProvider(t *testing.T, rows map[string][]string, p Provider) {
	t.Helper()
	if !slices.ContainsFunc(rows[p.Repository], func(row string) bool { return containsEach(row, []string{p.Version, p.Namespace}) }) {
		t.Errorf("docs/concepts/addons.md has no row for %s with %s and %s", p.Repository, p.Version, p.Namespace)
	}
}

func containsEach(row string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(row, w) })
}

func TestEveryDocumentedKubernetesIsOnThePage(t *testing.T) {
	for _, r := range catalogue() {
		m, known := documented()[r.key]
		if row := fmt.Sprintf("| `%s` | %s | 1.%d to 1.%d |", r.key, r.version, m.first, m.last); known && !strings.Contains(page(t), row) {
			t.Errorf("docs/concepts/addons.md has no row %s", row)
		}
	}
}
