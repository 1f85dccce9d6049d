// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"slices"
	"strings"
)

// versions are the api-versions of a type that are answered, by the beginning of the type.
// They are those of which the fields in use here have not changed.
func versions(kind string) []string {
	kind = strings.ToLower(kind)
	for _, v := range []struct {
		prefix   string
		versions []string
	}{
		{"microsoft.compute/disks", []string{"2021-12-01", "2022-03-02", "2022-07-02", "2023-01-02", "2023-04-02", "2023-10-02", "2024-03-02", "2025-01-02", "2026-03-02"}},
		{"microsoft.compute/galleries", galleryVersions()},
		{"microsoft.compute/locations/communitygalleries", galleryVersions()},
		{"microsoft.compute/skus", []string{"2017-09-01", "2019-04-01", "2021-07-01"}},
		{"microsoft.compute/locations/diskoperations", []string{"2021-12-01", "2022-03-02", "2022-07-02", "2023-01-02", "2023-04-02", "2023-10-02", "2024-03-02", "2025-01-02", "2026-03-02"}},
		{"microsoft.compute/locations/operations", append(computeVersions(), galleryVersions()...)},
		{"microsoft.compute", computeVersions()},
		{"microsoft.network", networkVersions()},
		{"microsoft.features", []string{"2015-12-01", "2021-07-01"}},
		{"microsoft.authorization", []string{"2015-07-01", "2018-01-01-preview", "2018-07-01", "2022-04-01"}},
		{"", []string{
			"2016-06-01", "2018-05-01", "2019-05-01", "2019-05-10", "2019-06-01", "2019-07-01", "2019-11-01", "2020-01-01", "2020-06-01", "2020-10-01",
			"2021-01-01", "2021-04-01", "2022-09-01", "2022-12-01", "2023-07-01", "2024-03-01", "2024-07-01", "2024-11-01", "2025-04-01",
		}},
	} {
		if strings.HasPrefix(kind, v.prefix) {
			return v.versions
		}
	}
	return nil
}

func computeVersions() []string {
	return []string{
		"2021-11-01", "2022-03-01", "2022-08-01", "2022-11-01", "2023-03-01", "2023-07-01", "2023-09-01", "2024-03-01", "2024-07-01", "2024-11-01", "2025-04-01", "2025-11-01", "2026-04-01",
	}
}

func galleryVersions() []string {
	return []string{"2021-10-01", "2022-01-03", "2022-03-03", "2022-08-03", "2023-07-03", "2024-03-03", "2025-03-03", "2025-12-03", "2026-03-03"}
}

func networkVersions() []string {
	return []string{
		"2021-08-01", "2022-01-01", "2022-05-01", "2022-07-01", "2022-09-01", "2022-11-01", "2023-02-01", "2023-04-01", "2023-05-01", "2023-06-01",
		"2023-09-01", "2023-11-01", "2024-01-01", "2024-03-01", "2024-05-01", "2024-07-01", "2024-10-01", "2025-01-01", "2025-03-01", "2025-05-01", "2025-07-01", "2025-09-01", "2026-01-01", "2026-03-01",
	}
}

// checkVersion refuses a call without an api-version, or with one that is not answered.
func (c *call) checkVersion() error {
	version := c.query.Get("api-version")
	if version == "" {
		return bad("MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests.")
	}
	kind := c.id.kind()
	if c.id.provider == "" {
		kind = ""
	}
	if i := slices.IndexFunc(c.id.types, func(t string) bool { return strings.EqualFold(t, "locations") }); i == 0 && len(c.id.types) > 1 {
		kind = c.id.provider + "/locations/" + c.id.types[1]
	}
	all := versions(kind)
	switch {
	case slices.Contains(all, version):
		return nil
	case c.id.provider == "":
		return bad("InvalidApiVersionParameter", "The api-version '%s' is invalid. The supported versions are '%s'.", version, strings.Join(all, ","))
	}
	return bad("NoRegisteredProviderFound", "No registered resource provider found for location '%s' and API version '%s' for type '%s'. The supported api-versions are '%s'.",
		c.seed.Location, version, strings.Join(c.id.types, "/"), strings.Join(all, ", "))
}
