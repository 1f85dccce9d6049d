// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestClassify(t *testing.T) {
	cases := map[string]struct {
		text, want string
		refused    bool
	}{
		"Apache":         {"Apache License\n   Version 2.0, January 2004", "Apache-2.0", false},
		"MIT":            {"Permission is hereby granted, free of\ncharge, to any person", "MIT", false},
		"BSD, 3 clauses": {"Redistribution and use in source and binary forms, with … Neither the name of", "BSD-3-Clause", false},
		"BSD, 2 clauses": {"Redistribution and use in source and binary forms, with or without", "BSD-2-Clause", false},
		"MPL":            {"Mozilla Public License Version 2.0 … GNU General Public License, GNU Affero General Public License", "MPL-2.0", false},
		"GPL":            {"GNU GENERAL PUBLIC LICENSE Version 3", "GPL", true},
		"LGPL":           {"GNU LESSER GENERAL PUBLIC LICENSE … GNU General Public License", "LGPL", true},
		"AGPL":           {"GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL", true},
		"another text":   {"All rights reserved.", "unknown", true},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			got := classify(c.text)
			if got.name != c.want || (got.refused != "") != c.refused {
				t.Errorf("classify = %+v", got)
			}
		})
	}
}
