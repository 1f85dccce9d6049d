// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

// newID returns an ID as EC2 makes them: a prefix and 17 hex digits.
func newID(prefix string) string { return prefix + "-0" + randomHex(16) }

func randomHex(digits int) string {
	raw := make([]byte, (digits+1)/2)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)[:digits]
}

func requestID() string {
	h := randomHex(32)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

var hexDigits = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)

// checkID refuses what is not an ID with this prefix.
func checkID(id, prefix, code string) error {
	rest, found := strings.CutPrefix(id, prefix+"-")
	if !found || !hexDigits.MatchString(rest) {
		return refuse(code, "Invalid id: \"%s\" (expecting \"%s-...\")", id, prefix)
	}
	return nil
}

// arn names a resource of the account.
func (a *AWS) arn(service, resource string) string {
	region := a.seed.Region
	if service == iam || service == sts {
		region = ""
	}
	known, _ := model.RegionNamed(a.seed.Region)
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", cmp.Or(known.Partition, "aws"), service, region, a.account, resource)
}

// derivedID returns an ID that is the same for the same name.
func derivedID(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + "-0" + hex.EncodeToString(sum[:])[:16]
}

// randomText has random letters of an alphabet whose length is a power of two.
func randomText(length int, alphabet string) string {
	raw := make([]byte, length)
	_, _ = rand.Read(raw) // never fails
	for i, b := range raw {
		raw[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(raw)
}
