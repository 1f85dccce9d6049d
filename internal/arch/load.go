// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// Load lists the packages of the module at root by asking the go command.
func Load(root string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	return decode(bytes.NewReader(out))
}

// decode reads the objects that `go list -json` writes one after another.
func decode(r io.Reader) ([]Package, error) {
	var packages []Package
	for decoder := json.NewDecoder(r); ; {
		var listed struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		err := decoder.Decode(&listed)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, Package{
			Path:        strings.TrimPrefix(listed.ImportPath, Module),
			Imports:     listed.Imports,
			TestImports: slices.Concat(listed.TestImports, listed.XTestImports),
		})
	}
}
