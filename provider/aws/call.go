// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import "context"

// call is an operation of a service. The driver keeps operations, not the SDK's clients:
// in a program that uses text/template, which finds methods by their names, the linker
// keeps every method of a type that an interface may hold, and EC2 has 700 operations,
// 40 MB of a binary. For the same reason it does without the SDK's paginators.
type call[In, Out, Options any] = func(context.Context, *In, ...func(*Options)) (*Out, error)
