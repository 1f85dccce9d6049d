#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# Copies the generated definitions into this chart.
set -eu
cd "$(dirname "$0")/.."
rm -rf definitions
mkdir definitions
cp ../../config/crd/bases/*.yaml definitions
