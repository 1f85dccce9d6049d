// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"fmt"
	"strings"
)

// Static returns an error unless the ELF executable runs without a loader and
// without shared libraries, as an image without a libc demands.
func Static(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for _, header := range file.Progs {
		if header.Type == elf.PT_INTERP {
			return fmt.Errorf("%s asks for a loader", path)
		}
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return err
	}
	if len(libraries) > 0 {
		return fmt.Errorf("%s needs %s", path, strings.Join(libraries, ", "))
	}
	return nil
}
