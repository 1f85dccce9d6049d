// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package bundle writes files to an archive, without the secrets that they may hold.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"
)

// Redacted replaces a secret.
const Redacted = "REDACTED"

// How long a secret is at least, and a part of one: shorter ones are words, such as the name
// of a cluster in its kubeconfig.
const (
	shortest     = 8
	shortestPart = 24
)

// Secrets are values that must not be in a bundle.
type Secrets struct{ values map[string]bool }

// Add adds a value: as a whole, each of its lines, each text of a document in JSON, and all
// of these in base64.
func (s *Secrets) Add(value []byte) {
	s.add(value, shortest)
	for line := range bytes.Lines(value) {
		s.add(bytes.TrimSpace(line), shortestPart)
		if _, v, ok := bytes.Cut(line, []byte(": ")); ok {
			s.add(bytes.Trim(bytes.TrimSpace(v), `"'`), shortestPart)
		}
	}
	var document any
	if json.Unmarshal(value, &document) == nil {
		s.addTexts(document)
	}
}

func (s *Secrets) addTexts(v any) {
	switch v := v.(type) {
	case string:
		s.add([]byte(v), shortestPart)
	case []any:
		for _, each := range v {
			s.addTexts(each)
		}
	case map[string]any:
		for _, each := range v {
			s.addTexts(each)
		}
	}
}

func (s *Secrets) add(value []byte, least int) {
	if len(bytes.TrimSpace(value)) < least {
		return
	}
	if s.values == nil {
		s.values = map[string]bool{}
	}
	s.values[string(value)] = true
	s.values[base64.StdEncoding.EncodeToString(value)] = true
}

// Redact replaces all secrets in a text, the longest first.
func (s *Secrets) Redact(text []byte) []byte {
	all := slices.Collect(maps.Keys(s.values))
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, value := range all {
		text = bytes.ReplaceAll(text, []byte(value), []byte(Redacted))
	}
	return text
}

// Write writes files, by name, to a compressed archive below a directory.
func Write(w io.Writer, dir string, files map[string][]byte, s *Secrets, now time.Time) (err error) {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	defer func() { err = errors.Join(err, archive.Close(), compressed.Close()) }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := s.Redact(files[name])
		header := &tar.Header{Name: dir + "/" + name, Mode: 0o600, Size: int64(len(text)), ModTime: now}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	return nil
}
