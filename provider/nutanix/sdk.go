// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import _ "github.com/nutanix-cloud-native/prism-go-client/v3" // the vendor's client
