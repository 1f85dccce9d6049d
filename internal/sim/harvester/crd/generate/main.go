// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the CRDs of the simulated Harvester from Go types. It
// runs controller-gen and adds what KubeVirt's operator, not its types, decides:
// short names, printer columns and which kind has a status subresource.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	kubevirtTypes  = "paths=kubevirt.io/api/core/v1"
	harvesterTypes = "paths=github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

func main() {
	tools := flag.String("tools", "", "mod file of the tools")
	header := flag.String("header", "", "file with the header of Go files")
	out := flag.String("out", "", "directory for the CRDs")
	flag.Parse()
	if err := generate(*tools, *header, *out); err != nil {
		log.Fatal(err)
	}
}

func generate(tools, header, out string) error {
	if _, err := controllerGen(tools, "object:headerFile="+header, harvesterTypes); err != nil {
		return err
	}
	// KubeVirt measures some rates as floating point numbers: hence the second option.
	raw, err := controllerGen(tools, "crd:maxDescLen=0,allowDangerousTypes=true", kubevirtTypes, harvesterTypes, "output:crd:stdout")
	if err != nil {
		return err
	}
	all, err := decode(raw)
	if err != nil {
		return err
	}
	for plural, finish := range kinds() {
		if err := write(out, plural, all[plural], finish); err != nil {
			return err
		}
	}
	return nil
}

func controllerGen(tools string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"tool", "-modfile=" + tools, "controller-gen"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("controller-gen: %w", err)
	}
	return out, nil
}

func decode(raw []byte) (map[string]*apiextensionsv1.CustomResourceDefinition, error) {
	all := map[string]*apiextensionsv1.CustomResourceDefinition{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		var d apiextensionsv1.CustomResourceDefinition
		err := decoder.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all[d.Spec.Names.Plural] = &d
	}
}

// write keeps a definition on one line: a schema of this size is not read by people, and
// without the indentation it is a third as large.
func write(dir, plural string, d *apiextensionsv1.CustomResourceDefinition, finish func(*apiextensionsv1.CustomResourceDefinition)) error {
	if d == nil {
		return fmt.Errorf("controller-gen wrote no definition of %s", plural)
	}
	d.Annotations = nil
	finish(d)
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, plural+".json"), append(raw, '\n'), 0o644)
}
