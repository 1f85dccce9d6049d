// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

type (
	balancer    struct{}
	targetGroup struct{}
	listener    struct{}
)

const (
	maxBalancers    = 50
	maxTargetGroups = 3000
)

func elbOperations() map[string]operation { return nil }

func (s *state) balancerTags(string) (*tags, func(), bool) { return nil, nil, false }
func (a *AWS) balancerName(request) string                 { return "" }
func (a *AWS) auditBalancers()                             {}
func (a *AWS) resumeBalancers()                            {}
