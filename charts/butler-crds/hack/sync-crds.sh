#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# Copies the generated definitions and the rules on their objects into this chart.
set -eu
cd "$(dirname "$0")/.."
rm -rf definitions policies
mkdir definitions policies
cp ../../config/crd/bases/*.yaml definitions
cp ../../config/admission/policies/*.yaml policies
