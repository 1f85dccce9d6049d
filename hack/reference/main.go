// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Reference writes the parts of docs/reference that come from code: the pages of reasons and
// metrics, and the fields of each kind.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write writes all pages below root.
func write(root string) error {
	pages, err := pages(root)
	if err != nil {
		return err
	}
	for name, content := range pages {
		path := filepath.Join(root, "docs", "reference", name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // a page for everyone
			return err
		}
	}
	return nil
}

// pages returns the pages of docs/reference that have generated parts.
func pages(root string) (map[string]string, error) {
	reasons, err := reasonsPage(root)
	if err != nil {
		return nil, err
	}
	all, err := fieldsOfKinds(root)
	if err != nil {
		return nil, err
	}
	all["reasons.md"], all["metrics.md"] = reasons, metricsPage()
	return all, nil
}
