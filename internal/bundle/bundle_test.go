// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestSecretsAreRedactedInEveryForm(t *testing.T) {
	s := &Secrets{}
	s.Add([]byte("canary-plain-1"))
	s.Add([]byte("user: someone-else\ntoken: canary-yaml-2-with-a-long-value\n"))
	s.Add([]byte(`{"private_key": "canary-json-3-with-a-long-value", "list": ["canary-list-4-with-a-long-value"]}`))
	s.Add([]byte("short"))
	text := "a canary-plain-1 b canary-yaml-2-with-a-long-value c canary-json-3-with-a-long-value d canary-list-4-with-a-long-value e short f " + base64.StdEncoding.EncodeToString([]byte("canary-plain-1"))
	got := string(s.Redact([]byte(text)))
	if strings.Contains(got, "canary") || !strings.Contains(got, "e short f REDACTED") {
		t.Errorf("%q", got)
	}
}

func TestFilesAreWrittenWithoutSecrets(t *testing.T) {
	s := &Secrets{}
	s.Add([]byte("canary-plain-1"))
	var out bytes.Buffer
	files := map[string][]byte{"b.log": []byte("x canary-plain-1 y"), "a.json": []byte("{}")}
	if err := Write(&out, "dev", files, s, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = string(data)
	}
	if len(got) != 2 || got["dev/a.json"] != "{}" || got["dev/b.log"] != "x REDACTED y" {
		t.Errorf("%v", got)
	}
}
