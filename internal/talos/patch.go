// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"encoding/json"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config"
	configdoc "github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"sigs.k8s.io/yaml"
)

// withJSONPatches patches the v1alpha1 document alone: machinery refuses RFC
// 6902 on a configuration of several documents.
func withJSONPatches(cfg config.Provider, patches []JSONPatch, r Role) (config.Provider, error) {
	for i, patch := range patches {
		if !patch.Target.includes(r) {
			continue
		}
		var err error
		if cfg, err = withJSONPatch(cfg, patch); err != nil {
			return nil, fmt.Errorf("config patch %d (%s %s): %w", i, patch.Op, patch.Path, err)
		}
	}
	return cfg, nil
}

func withJSONPatch(cfg config.Provider, patch JSONPatch) (config.Provider, error) {
	operation, err := jsonOperation(patch)
	if err != nil {
		return nil, err
	}
	before, err := container.NewV1Alpha1(cfg.Clone().RawV1Alpha1()).EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		return nil, err
	}
	out, err := configpatcher.Apply(configpatcher.WithBytes(before), []configpatcher.Patch{operation})
	if err != nil {
		return nil, err
	}
	after, err := out.Bytes()
	if err != nil {
		return nil, err
	}
	return withV1Alpha1(cfg, after)
}

func jsonOperation(patch JSONPatch) (configpatcher.Patch, error) {
	operation := map[string]any{"op": patch.Op, "path": patch.Path}
	switch patch.Op {
	case "add", "replace":
		if patch.Value == "" {
			return nil, fmt.Errorf("the value is missing")
		}
		value, err := yaml.YAMLToJSON([]byte(patch.Value))
		if err != nil {
			return nil, fmt.Errorf("the value is not YAML: %w", err)
		}
		operation["value"] = json.RawMessage(value)
	case "remove":
	default:
		return nil, fmt.Errorf("unknown operation: want add, remove or replace")
	}
	data, err := json.Marshal([]any{operation})
	if err != nil {
		return nil, err
	}
	return configpatcher.LoadPatch(data)
}

// withV1Alpha1 replaces the v1alpha1 document and keeps the others.
func withV1Alpha1(cfg config.Provider, data []byte) (config.Provider, error) {
	patched, err := configloader.NewFromBytes(data)
	if err != nil {
		return nil, err
	}
	documents := []configdoc.Document{patched.Clone().RawV1Alpha1()}
	for _, document := range cfg.Clone().Documents() {
		if document.Kind() != documents[0].Kind() {
			documents = append(documents, document)
		}
	}
	return container.New(documents...)
}

func withMergePatches(cfg config.Provider, patches []MergePatch, r Role) (config.Provider, error) {
	for i, patch := range patches {
		if !patch.Target.includes(r) {
			continue
		}
		var err error
		if cfg, err = merged(cfg, []byte(patch.YAML)); err != nil {
			return nil, fmt.Errorf("merge patch %d: %w", i, err)
		}
	}
	return cfg, nil
}

func merged(cfg config.Provider, data []byte) (config.Provider, error) {
	loaded, err := configpatcher.LoadPatch(data)
	if err != nil {
		return nil, err
	}
	patch, ok := loaded.(configpatcher.StrategicMergePatch)
	if !ok {
		return nil, fmt.Errorf("not a strategic merge patch")
	}
	return configpatcher.StrategicMerge(cfg, patch)
}
