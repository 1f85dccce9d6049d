// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the tables of parameters of the simulated AWS from the service
// descriptions in the Go module of the first AWS SDK, which is frozen.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	source    = "github.com/aws/aws-sdk-go@v1.55.8"
	sourceSum = "h1:JRmEUbU52aJQZ2AjX4q4Wu7t4uZjOu71uyNmaWlUkJQ="
)

func main() {
	out := flag.String("out", "", "directory of the tables")
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
	for name, s := range services() {
		d, err := read(filepath.Join(dir, "models", "apis", s.path, "api-2.json"))
		if err != nil {
			return err
		}
		table, err := d.table(s.operations)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name+".txt"), []byte(table), 0o600); err != nil {
			return err
		}
	}
	regions, err := regionTable()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "..", "regions.txt"), []byte(regions), 0o600)
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

// description is the part of a service's description that tables are written from.
type description struct {
	Metadata struct {
		APIVersion string `json:"apiVersion"`
		Protocol   string `json:"protocol"`
	} `json:"metadata"`
	Operations map[string]struct {
		Input struct {
			Shape string `json:"shape"`
		} `json:"input"`
	} `json:"operations"`
	Shapes map[string]shape `json:"shapes"`
}

type shape struct {
	Type      string            `json:"type"`
	Required  []string          `json:"required"`
	Members   map[string]member `json:"members"`
	Member    member            `json:"member"`
	Flattened bool              `json:"flattened"`
	Key       member            `json:"key"`
	Value     member            `json:"value"`
	Enum      []string          `json:"enum"`
	Min       *float64          `json:"min"`
	Max       *float64          `json:"max"`
}

type member struct {
	Shape        string `json:"shape"`
	LocationName string `json:"locationName"`
	QueryName    string `json:"queryName"`
}

func read(file string) (d description, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(raw, &d)
}

func (d description) table(operations []string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by generate from %s; do not edit.\nversion %s\n", source, d.Metadata.APIVersion)
	for _, name := range operations {
		op, known := d.Operations[name]
		if !known {
			return "", fmt.Errorf("there is no operation %s", name)
		}
		fmt.Fprintln(&b, name)
		if op.Input.Shape != "" {
			d.structure(&b, "", d.Shapes[op.Input.Shape], 0)
		}
	}
	return b.String(), nil
}
