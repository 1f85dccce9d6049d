// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the table of methods and fields of the simulated Compute Engine
// from the discovery document in the Go module of Google's API clients.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	source    = "google.golang.org/api@v0.279.0"
	sourceSum = "h1:hsx2M2OaRcaKtVYK6vXEUnQvdjnend7ZYES+lYaot74="
)

func main() {
	out := flag.String("out", "", "file of the table")
	flag.Parse()
	if err := generate(*out); err != nil {
		log.Fatal(err)
	}
}

func generate(out string) error {
	dir, err := download()
	if err != nil {
		return err
	}
	d, err := read(filepath.Join(dir, "compute", "v1", "compute-api.json"))
	if err != nil {
		return err
	}
	table, err := d.table(methods())
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(table), 0o600)
}

// download returns the directory of the module in the module cache.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", source)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", source, err)
	}
	var module struct{ Dir, Sum string }
	if err := json.Unmarshal(raw, &module); err != nil {
		return "", err
	}
	if module.Sum != sourceSum {
		return "", fmt.Errorf("download %s: its sum is %s, not %s", source, module.Sum, sourceSum)
	}
	return module.Dir, nil
}

// document is the part of a discovery document that the table is written from.
type document struct {
	Revision   string            `json:"revision"`
	Schemas    map[string]schema `json:"schemas"`
	Parameters map[string]schema `json:"parameters"`
	Resources  map[string]struct {
		Methods map[string]method `json:"methods"`
	} `json:"resources"`
}

type method struct {
	ID         string            `json:"id"`
	HTTPMethod string            `json:"httpMethod"`
	Path       string            `json:"path"`
	Parameters map[string]schema `json:"parameters"`
	Request    struct {
		Ref string `json:"$ref"`
	} `json:"request"`
}

// schema is that of a field, of an object or of a parameter.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Pattern    string            `json:"pattern"`
	Location   string            `json:"location"`
	Enum       []string          `json:"enum"`
	ReadOnly   bool              `json:"readOnly"`
	Required   bool              `json:"required"`
	Repeated   bool              `json:"repeated"`
	Minimum    string            `json:"minimum"`
	Maximum    string            `json:"maximum"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Values     *schema           `json:"additionalProperties"`
}

func read(file string) (d document, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(raw, &d)
}
