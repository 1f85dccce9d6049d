#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# Puts the library into every chart that is built on it, where Helm looks for it,
# and the schema of their values into the charts of providers.
set -eu
cd "$(dirname "$0")/../.."
for chart in $(grep -l 'file://../butler-lib' ./*/Chart.yaml); do
	copy="$(dirname "$chart")/charts/butler-lib"
	rm -rf "$copy"
	mkdir -p "$copy"
	cp -R butler-lib/Chart.yaml butler-lib/templates "$copy"
done
for chart in ./butler-provider-*; do
	cp butler-lib/provider.schema.json "$chart/values.schema.json"
done
