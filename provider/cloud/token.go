// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// TokenEnds reads the claim exp of a JSON web token; zero if there is none.
func TokenEnds(token string) time.Time {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct {
		Expiry int64 `json:"exp"`
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(content, &claims) != nil || claims.Expiry == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expiry, 0)
}

// CheckUserData refuses user data of more bytes than the platform accepts, and network
// data and addresses, which clouds have no place for. The platform is named for people.
func CheckUserData(op, platform string, s provider.MachineSpec, most int) error {
	if err := provider.RefuseAddress(op, platform, s); err != nil {
		return err
	}
	if s.NetworkData != "" {
		return provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("networkData has no effect on %s", platform), "remove it")
	}
	if n := len(s.UserData.Reveal()); n > most {
		return provider.Invalid.New(op, provider.ReasonUserDataTooLong, fmt.Errorf("user data has %d bytes, and %s accepts %d", n, platform, most),
			"shorten it; large parts of a Talos configuration, such as manifests, can be fetched by URL")
	}
	return nil
}
