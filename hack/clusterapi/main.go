// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command clusterapi writes the definitions of Cluster API and its providers to
// config/clusterapi: those kinds and versions that this project uses, from the modules of
// their releases, without descriptions.
//
// It is run by hand when a version is added, because it downloads modules.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	var errs []error
	for _, s := range sources() {
		errs = append(errs, s.write(filepath.Join("config", "clusterapi", "definitions")))
	}
	if err := errors.Join(errs...); err != nil {
		log.Fatal(err)
	}
}

type object = map[string]any

// write fetches the module, and writes one file with the definitions that are used.
func (s source) write(folder string) error {
	dir, err := download(s.module + "@" + s.version)
	if err != nil {
		return err
	}
	var all []object
	for _, kind := range s.kinds {
		d, err := s.definition(filepath.Join(dir, s.folder), kind)
		if err != nil {
			return fmt.Errorf("%s@%s: %w", s.module, s.version, err)
		}
		all = append(all, d)
	}
	data, err := lines(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.name+"-"+s.version+".json"), data, 0o644) //nolint:gosec // a file of the repository
}

// lines is a JSON document with one definition on each line, so that a change of one is a
// change of one line.
func lines(all []object) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range all {
		data, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		out.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		out.Write(data)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}

// download returns the folder of a module in the module cache.
func download(module string) (string, error) {
	c := exec.Command("go", "mod", "download", "-json", module)
	// Outside of any module, so that go.mod is not looked at.
	c.Dir, c.Env = os.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, runErr := c.Output()
	var m struct{ Dir, Error string }
	if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
		return "", fmt.Errorf("download %s: %s %w", module, m.Error, errors.Join(err, runErr))
	}
	return m.Dir, nil
}

// definition reads the definition of a plural name.
func (s source) definition(folder, plural string) (object, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*_"+plural+".yaml"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("%d files for %s in %s: %w", len(found), plural, folder, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	var d object
	if err := yaml.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	metadata, spec := d["metadata"].(object), d["spec"].(object)
	d["metadata"] = object{"name": metadata["name"], "labels": s.labels()}
	spec["versions"] = s.kept(spec["versions"].([]any))
	delete(d, "status")
	if len(spec["versions"].([]any)) == 0 {
		return nil, fmt.Errorf("%s has none of the versions %s", plural, s.versions)
	}
	return prune(d).(object), nil
}

// labels say which contract of Cluster API the kinds fulfil, with which versions.
func (s source) labels() object {
	out := object{}
	for contract, versions := range s.contract {
		out["cluster.x-k8s.io/"+contract] = versions
	}
	return out
}

// kept are the versions that are used. The last one is stored if the one that was is not kept.
func (s source) kept(versions []any) []any {
	out := slices.DeleteFunc(versions, func(v any) bool {
		return !slices.Contains(s.versions, v.(object)["name"].(string))
	})
	stored := slices.ContainsFunc(out, func(v any) bool { return v.(object)["storage"] == true })
	if len(out) > 0 && !stored {
		out[len(out)-1].(object)["storage"] = true
	}
	return out
}

// prune removes what is for readers only. A property may be named like it.
func prune(value any) any {
	switch v := value.(type) {
	case object:
		for key, inner := range v {
			_, text := inner.(string)
			if (key == "description" || key == "deprecationWarning") && text || key == "additionalPrinterColumns" {
				delete(v, key)
				continue
			}
			v[key] = prune(inner)
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	case string:
		return strings.TrimSpace(v)
	}
	return value
}
