// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"io/fs"
	"os"
	"strings"
)

// File is a file of an image, or a directory if its name ends with a slash.
type File struct {
	// Name is the path without a slash at the beginning.
	Name    string
	Mode    int64
	Content []byte
}

// IsDir reports whether it is a directory.
func (f File) IsDir() bool { return strings.HasSuffix(f.Name, "/") }

// FileMode returns its permissions.
func (f File) FileMode() fs.FileMode {
	mode := fs.FileMode(f.Mode).Perm()
	if f.Mode&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

const certificatesPath = "etc/ssl/certs/ca-certificates.crt"

// Base returns what every image has besides its executable, in the order of the names. All of
// it belongs to root: a copy by docker build would lose another owner.
func Base() []File {
	return []File{
		{Name: "etc/", Mode: 0o755},
		{Name: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Name: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{Name: "etc/ssl/", Mode: 0o755},
		{Name: "etc/ssl/certs/", Mode: 0o755},
		{Name: certificatesPath, Mode: 0o644, Content: Certificates()},
		{Name: "home/", Mode: 0o755},
		{Name: "home/nonroot/", Mode: 0o1777},
		{Name: "tmp/", Mode: 0o1777},
	}
}

// Files returns all files of the image of an executable, those of the lowest layer first. It
// refuses an executable that needs a loader or libraries, which the image does not have.
func Files(executable string) ([]File, error) {
	if err := Static(executable); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	return append(Base(), File{Name: Entrypoint[1:], Mode: 0o755, Content: content}), nil
}
