// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/butlerdotdev/butler/internal/image"
	"github.com/butlerdotdev/butler/internal/image/imagetest"
)

// TestTheSameSourceGivesTheSameDigests compiles twice, into different directories.
func TestTheSameSourceGivesTheSameDigests(t *testing.T) {
	digests := map[string]bool{}
	for range 2 {
		s, err := image.NewSet("small", imagetest.Small(t, "small", "amd64", "arm64"), imagetest.Release())
		if err != nil {
			t.Fatal(err)
		}
		digest, err := s.Index.Digest()
		if err != nil {
			t.Fatal(err)
		}
		all := digest.String()
		for _, a := range s.Attached {
			digest, err := a.Digest()
			if err != nil {
				t.Fatal(err)
			}
			all += " " + digest.String()
		}
		digests[all] = true
	}
	if len(digests) != 1 {
		t.Errorf("two builds have different digests: %v", slices.Collect(maps.Keys(digests)))
	}
}

// TestImagesAreValid has the library compare digests, sizes and the configuration with the
// layers.
func TestImagesAreValid(t *testing.T) {
	s, err := image.NewSet("small", imagetest.Small(t, "small", "amd64", "arm64"), imagetest.Release())
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(s.Index); err != nil {
		t.Error(err)
	}
	manifest, err := s.Index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Error(diff)
	}
	if got := manifest.Annotations["org.opencontainers.image.version"]; got != "v1.2.3" {
		t.Errorf("the index has version %q", got)
	}
}

func TestTheProcessIsNotRoot(t *testing.T) {
	config, err := imageOf(t).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/butler"}) {
		t.Errorf("user %q runs %v", config.Config.User, config.Config.Entrypoint)
	}
	if got := config.Config.Labels["org.opencontainers.image.revision"]; got != "0123456789ab" {
		t.Errorf("revision %q", got)
	}
}

func imageOf(t *testing.T) v1.Image {
	t.Helper()
	i, err := image.New(imagetest.Small(t, "small", "amd64")[0], imagetest.Release())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAnImageHasExecutableAndCertificates(t *testing.T) {
	content := mutate.Extract(imageOf(t))
	defer content.Close()
	sizes := map[string]int64{}
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 {
			t.Errorf("%s has time %s", header.Name, header.ModTime)
		}
		sizes[strings.TrimSuffix(header.Name, "/")] = header.Size
	}
	for name, least := range map[string]int64{"butler": 500_000, "etc/ssl/certs/ca-certificates.crt": 100_000, "etc/passwd": 50, "tmp": 0, "home/nonroot": 0} {
		if size, ok := sizes[name]; !ok || size < least {
			t.Errorf("%s has %d bytes; there is %v", name, size, sizes)
		}
	}
}

func TestAnExecutableForAnotherSystemIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := image.New(image.Program{Name: "text", Path: path}, imagetest.Release()); err == nil {
		t.Error("a text has become an image")
	}
}

// TestTheBillOfMaterialsNamesTheModules that the executable itself names, and is attached to
// its image.
func TestTheBillOfMaterialsNamesTheModules(t *testing.T) {
	s := imagetest.Set(t, "small")
	manifest, err := s.Attached[0].Manifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := s.Index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Subject == nil || manifest.Subject.Digest != index.Manifests[0].Digest || manifest.ArtifactType != image.SPDXType {
		t.Errorf("the bill of materials is of type %q, about %v", manifest.ArtifactType, manifest.Subject)
	}
	layers, err := s.Attached[0].Layers()
	if err != nil {
		t.Fatal(err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var document struct {
		Version  string `json:"spdxVersion"`
		Packages []struct {
			Name, VersionInfo string
		}
	}
	if err := json.NewDecoder(content).Decode(&document); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range document.Packages {
		names = append(names, p.Name)
		if p.VersionInfo == "" {
			t.Errorf("%s has no version", p.Name)
		}
	}
	if diff := cmp.Diff([]string{"small", "stdlib", "github.com/google/go-cmp"}, names); diff != "" || document.Version != "SPDX-2.3" {
		t.Error(document.Version, diff)
	}
}
