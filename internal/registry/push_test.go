// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	far "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/butlerdotdev/butler/internal/image/archive"
	"github.com/butlerdotdev/butler/internal/image/imagetest"
	"github.com/butlerdotdev/butler/internal/registry"
)

// server is a registry that counts uploads, wants a password if it has one, and breaks off
// after a number of uploads if a test says so.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	uploads  int
	password string
	failing  int // uploads that succeed before one fails; negative: all
}

func start(t *testing.T, encrypted bool) *server {
	t.Helper()
	s := &server{failing: -1}
	images := far.New(far.Logger(log.New(io.Discard, "", 0)), far.WithReferrersSupport(true))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admits(w, r) {
			return
		}
		images.ServeHTTP(w, r)
	})
	if encrypted {
		s.Server = httptest.NewTLSServer(handler)
	} else {
		s.Server = httptest.NewServer(handler)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) admits(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, password, _ := r.BasicAuth(); password != s.password {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	if r.Method == http.MethodPatch || r.Method == http.MethodPut {
		if s.failing == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		s.failing--
		s.uploads++
	}
	return true
}

func (s *server) host() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

// opened is an archive with one image.
func opened(t *testing.T) *archive.Archive {
	t.Helper()
	path := filepath.Join(t.TempDir(), "images.tar")
	w, err := archive.NewWriter(path, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add(imagetest.Set(t, "small")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func push(t *testing.T, o registry.Options, to string, a *archive.Archive) (string, error) {
	t.Helper()
	c, err := registry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c.Push(t.Context(), to, a.Images[0])
}

func TestAnImageIsPushedWithItsBillOfMaterials(t *testing.T) {
	s, a := start(t, false), opened(t)
	pushed, err := push(t, registry.Options{Insecure: true}, s.host()+"/mine/", a)
	if err != nil {
		t.Fatal(err)
	}
	if want := s.host() + "/mine/small:v1.2.3@" + a.Images[0].Digest.String(); pushed != want {
		t.Errorf("pushed %s, want %s", pushed, want)
	}
	tag, err := name.NewTag(s.host()+"/mine/small:v1.2.3", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(tag.Context().Digest(manifest.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	about, err := referrers.IndexManifest()
	if err != nil || len(about.Manifests) != 1 {
		t.Errorf("the image has referrers %v, %v", about, err)
	}
}

// TestASecondPushSendsNothing but what names the image again.
func TestASecondPushSendsNothing(t *testing.T) {
	s, a := start(t, false), opened(t)
	for range 2 {
		s.uploads = 0
		if _, err := push(t, registry.Options{Insecure: true}, s.host()+"/mine", a); err != nil {
			t.Fatal(err)
		}
	}
	if s.uploads > 0 {
		t.Errorf("the second push sent %d times", s.uploads)
	}
}

func TestAPushThatWasCutOffContinues(t *testing.T) {
	other, a := start(t, false), opened(t)
	if _, err := push(t, registry.Options{Insecure: true}, other.host()+"/whole", a); err != nil {
		t.Fatal(err)
	}
	whole := other.uploads
	s := start(t, false)
	s.failing = whole / 2
	if _, err := push(t, registry.Options{Insecure: true}, s.host()+"/cut", a); err == nil {
		t.Fatal("the registry has failed, and the push has not")
	}
	first := s.uploads
	s.uploads, s.failing = 0, -1
	if _, err := push(t, registry.Options{Insecure: true}, s.host()+"/cut", a); err != nil {
		t.Fatal(err)
	}
	if s.uploads == 0 || s.uploads >= whole {
		t.Errorf("the first attempt sent %d times, the second %d times; a whole push %d times", first, s.uploads, whole)
	}
}

func TestCredentials(t *testing.T) {
	dockerConfig := t.TempDir()
	s, a := start(t, false), opened(t)
	s.password = "secret"
	// The user name is x, as in x:secret.
	content := `{"auths": {"` + s.host() + `": {"auth": "eDpzZWNyZXQ="}}}`
	if err := os.WriteFile(filepath.Join(dockerConfig, "config.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		options registry.Options
		config  string
		ok      bool
	}{
		"those of flags":                   {registry.Options{Insecure: true, Username: "x", Password: "secret"}, t.TempDir(), true},
		"those of docker login":            {registry.Options{Insecure: true}, dockerConfig, true},
		"flags before those of the file":   {registry.Options{Insecure: true, Username: "x", Password: "other"}, dockerConfig, false},
		"none":                             {registry.Options{Insecure: true}, t.TempDir(), false},
		"anonymous, whatever the file has": {registry.Options{Insecure: true, Anonymous: true}, dockerConfig, false},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			t.Setenv("DOCKER_CONFIG", c.config)
			_, err := push(t, c.options, s.host()+"/mine", a)
			if (err == nil) != c.ok {
				t.Fatalf("push = %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), "docker login") || strings.Contains(err.Error(), "other")) {
				t.Errorf("push = %v, want what to do and no password", err)
			}
		})
	}
}

func TestTheAuthorityOfTheRegistry(t *testing.T) {
	s, a := start(t, true), opened(t)
	if _, err := push(t, registry.Options{}, s.host()+"/mine", a); err == nil || !strings.Contains(err.Error(), "--ca") {
		t.Errorf("push without the authority = %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := push(t, registry.Options{CA: ca}, s.host()+"/mine", a); err != nil {
		t.Error(err)
	}
}
