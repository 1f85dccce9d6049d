// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// takeUserData has the machine's user data on its disk if it is a configuration to boot
// with, and reports whether it is. In a cloud Talos waits for ever on what it cannot read;
// elsewhere such data are meant for others.
func takeUserData(ctx context.Context, m datacenter.Machine, d disk, log *slog.Logger) (bool, error) {
	config, err := configFrom(m)
	switch {
	case err != nil && m.Metadata != nil:
		log.Error("talos cannot use its user data", "error", err)
		<-ctx.Done()
		return false, ctx.Err()
	case err != nil:
		log.Info("talos leaves its user data to others", "error", err)
		return false, nil
	case config == nil:
		return false, nil
	}
	return true, d.writeConfig(config)
}

// configFrom returns the configuration in a machine's user data; nil if there is none that
// is complete.
func configFrom(m datacenter.Machine) ([]byte, error) {
	data, err := unzipped(m.UserData)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return nil, err
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("failed to load config via platform %s: %w", modeOf(m).platform, err)
	}
	if _, err := cfg.Validate(modeOf(m)); err != nil {
		return nil, fmt.Errorf("failed to validate config acquired via platform %s: %w", modeOf(m).platform, err)
	}
	if !cfg.CompleteForBoot() {
		return nil, nil
	}
	return data, nil
}

// unzipped returns data as it is unless it is compressed by gzip.
func unzipped(data []byte) ([]byte, error) {
	if http.DetectContentType(data) != "application/x-gzip" {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	return plain, errors.Join(err, r.Close())
}
