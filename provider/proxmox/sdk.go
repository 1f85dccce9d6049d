// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import _ "github.com/luthermonson/go-proxmox" // the vendor's client
