// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the table of the bodies that the simulated Prism Central reads,
// from the description of v3 in the Go module of the vendor's client.
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

const source = "github.com/nutanix-cloud-native/prism-go-client"

func main() {
	out := flag.String("out", "", "file of the table")
	flag.Parse()
	if err := generate(*out); err != nil {
		log.Fatal(err)
	}
}

func generate(out string) error {
	dir, err := module()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "v3", "swagger.json"))
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	table, err := d.table(bodies())
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(table), 0o600)
}

// module returns the directory of the client's module, of the version in go.mod.
func module() (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", source)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", source, err)
	}
	return string(raw[:len(raw)-1]), nil
}

// bodies are the schemas of the requests that the simulated API serves.
func bodies() []string {
	return []string{
		"category_key", "category_list_metadata", "category_query_input", "category_value", "groups_get_entities_request", "image_intent_input", "vm_clone_input", "vm_intent_input",
		"vm_list_metadata",
	}
}

// document is the part of the description that the table is written from.
type document struct {
	Definitions map[string]schema `json:"definitions"`
}

// schema is that of a field or of an object.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Pattern    string            `json:"pattern"`
	Enum       []string          `json:"x-ntnx-enum"`
	Required   []string          `json:"required"`
	MaxLength  int               `json:"maxLength"`
	Minimum    *int              `json:"minimum"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Values     *values           `json:"additionalProperties"`
}

// values is the schema of the values of a map. Some objects say only whether they have more
// fields, which is not used.
type values struct{ schema }

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, &v.schema)
}
