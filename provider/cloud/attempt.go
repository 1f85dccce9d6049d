// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"fmt"

	"github.com/butlerdotdev/butler/provider"
)

// Attempt is the part of a record that all clouds have; drivers embed it in theirs.
type Attempt struct {
	// Number distinguishes the attempts of a machine. The same number repeats the call.
	Number int `json:"number"`
}

// Next returns the number of the next attempt. It is that of the last one, unless the
// platform has refused that one for want of capacity or has used it up.
func Next(last provider.Attempt) int {
	var before Attempt
	if json.Unmarshal([]byte(last.Record), &before) != nil {
		return 0
	}
	if last.Refused == nil {
		return before.Number
	}
	switch provider.ReasonOf(last.Refused) {
	case provider.ReasonCapacityExhausted, provider.ReasonAttemptSpent:
		return before.Number + 1
	}
	return before.Number
}

// Record returns the text of an attempt.
func Record(attempt any) (string, error) {
	content, err := json.Marshal(attempt)
	return string(content), err
}

// ReadRecord reads what Record returned into the attempt; then check looks at it. One
// that cannot be used is planned again.
func ReadRecord(op, record string, attempt any, check func() error) error {
	err := json.Unmarshal([]byte(record), attempt)
	if err == nil {
		err = check()
	}
	if err != nil {
		return provider.Invalid.New(op, provider.ReasonAttemptInvalid, fmt.Errorf("the record of the attempt cannot be used: %w", err), "another attempt is planned")
	}
	return nil
}
