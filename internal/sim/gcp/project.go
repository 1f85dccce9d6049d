// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// platformRegions are all regions of the platform, by its documentation of August 2026. A
// project shows those of projectRegions and its own: a list over all zones names every one
// of them.
const platformRegions = `africa-south1
asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2 asia-southeast1 asia-southeast2 asia-southeast3
australia-southeast1 australia-southeast2
europe-central2 europe-north1 europe-north2 europe-southwest1 europe-west1 europe-west10 europe-west12 europe-west2 europe-west3 europe-west4 europe-west6
europe-west8 europe-west9
me-central1 me-central2 me-west1
northamerica-northeast1 northamerica-northeast2 northamerica-south1 southamerica-east1 southamerica-west1
us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4`

const projectRegions = "asia-east1 europe-west1 europe-west3 europe-west4 us-central1 us-east1 us-west1"

// exists reports whether the platform has a region.
func exists(region string) bool { return slices.Contains(strings.Fields(platformRegions), region) }

// regions are those that the project shows, in the order of their names.
func (g *GCP) regions() []string {
	all := strings.Fields(projectRegions)
	if !slices.Contains(all, g.seed.Region) {
		all = append(all, g.seed.Region)
	}
	slices.Sort(all)
	return all
}

// zonesOf are the zones of a region. Two regions have lost zone a, and one has gained one.
func zonesOf(region string) (out []string) {
	letters := cmp.Or(map[string]string{"europe-west1": "bcd", "us-east1": "bcd", "us-central1": "abcf"}[region], "abc")
	for _, letter := range letters {
		out = append(out, region+"-"+string(letter))
	}
	return out
}

func regionOf(zone string) string { return zone[:max(0, strings.LastIndex(zone, "-"))] }

func (g *GCP) hasRegion(name string) bool { return slices.Contains(g.regions(), name) }

func (g *GCP) hasZone(name string) bool {
	return g.hasRegion(regionOf(name)) && slices.Contains(zonesOf(regionOf(name)), name)
}

// readable reports whether a project is another one with images for everyone.
func (g *GCP) readable(project string) bool {
	return slices.ContainsFunc(g.st.all("images"), func(r *resource) bool { return strings.HasPrefix(r.Path, "projects/"+project+"/") })
}

// created is when everything began that the platform itself has created.
func created() time.Time { return time.Date(2025, 1, 16, 12, 0, 0, 0, time.UTC) }

func projectMethods() map[string]method {
	return map[string]method{"projects.get": {verb: fault.Get, handle: getComputeProject}}
}

func getComputeProject(c *call) (any, error) {
	if err := c.allow("compute.projects.get", ""); err != nil {
		return nil, err
	}
	return object{
		"kind": "compute#project", "id": numericID(c.number), "creationTimestamp": stamp(created()), "name": c.seed.Project,
		"selfLink": linkPrefix + "projects/" + c.seed.Project, "defaultServiceAccount": c.number + "-compute@developer.gserviceaccount.com",
		"defaultNetworkTier": "PREMIUM", "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS", "vmDnsSetting": "ZONAL_ONLY",
		"commonInstanceMetadata": object{"kind": "compute#metadata", "fingerprint": fingerprint("")},
		"quotas":                 c.quotas("", globalQuotas()),
	}, nil
}

// globalQuotas are the usual limits of a project, regionalQuotas those of a region.
func globalQuotas() map[string]float64 {
	return map[string]float64{
		"NETWORKS": 15, "FIREWALLS": 100, "ROUTES": 250, "SUBNETWORKS": 100, "FORWARDING_RULES": 75, "BACKEND_SERVICES": 50, "HEALTH_CHECKS": 75,
		"IMAGES": 2000, "CPUS_ALL_REGIONS": 8000, "IN_USE_ADDRESSES": 69,
	}
}

func regionalQuotas() map[string]float64 {
	out := map[string]float64{
		"CPUS": 5000, "INSTANCES": 6000, "DISKS_TOTAL_GB": 1024000, "SSD_TOTAL_GB": 1024000, "STATIC_ADDRESSES": 8, "IN_USE_ADDRESSES": 69, "INSTANCE_GROUPS": 500,
	}
	for _, f := range families() {
		if f.quota != "CPUS" {
			out[f.quota] = 5000
		}
	}
	return out
}

// limit is that of a metric in a region, or with an empty region of the project.
func (g *GCP) limit(region, metric string) float64 {
	if limit, set := g.seed.Quotas[metric]; set {
		return limit
	}
	if region == "" {
		return globalQuotas()[metric]
	}
	return regionalQuotas()[metric]
}

func (c *call) quotas(region string, all map[string]float64) (out []any) {
	for _, metric := range slices.Sorted(maps.Keys(all)) {
		out = append(out, object{"metric": metric, "limit": c.limit(region, metric), "usage": c.usage(region, metric)})
	}
	return out
}

func showRegion(c *call, r *resource, o object) { o["quotas"] = c.quotas(r.name(), regionalQuotas()) }

// usage is how much of a quota is used.
func (c *call) usage(region, metric string) float64 {
	in := func(collection string) (out []*resource) {
		for _, r := range c.st.tables[collection].ByID {
			if place := locationOf(r.Path); region == "" || place == region || regionOf(place) == region {
				out = append(out, r)
			}
		}
		return out
	}
	count := map[string]string{
		"NETWORKS": "networks", "FIREWALLS": "firewalls", "ROUTES": "routes", "SUBNETWORKS": "subnetworks", "FORWARDING_RULES": "forwardingRules",
		"BACKEND_SERVICES": "backendServices", "HEALTH_CHECKS": "healthChecks", "IMAGES": "images", "INSTANCES": "instances", "INSTANCE_GROUPS": "instanceGroups",
	}
	switch {
	case count[metric] != "":
		return float64(len(in(count[metric])))
	case metric == "STATIC_ADDRESSES":
		return float64(len(slices.DeleteFunc(in("addresses"), func(r *resource) bool { return r.Object.str("addressType") == "INTERNAL" })))
	case metric == "DISKS_TOTAL_GB" || metric == "SSD_TOTAL_GB":
		return usedGB(in("disks"), metric)
	case strings.HasSuffix(metric, "CPUS") || metric == "CPUS_ALL_REGIONS":
		return c.usedCPUs(in("instances"), metric)
	}
	return 0
}

func usedGB(disks []*resource, metric string) (sum float64) {
	for _, d := range disks {
		if strings.HasSuffix(d.Object.str("type"), "/pd-standard") == (metric == "DISKS_TOTAL_GB") {
			sum += float64(d.Object.num("sizeGb"))
		}
	}
	return sum
}

func (c *call) usedCPUs(instances []*resource, metric string) (sum float64) {
	for _, i := range instances {
		if t := c.typeOf(i); i.state() != terminated && (metric == "CPUS_ALL_REGIONS" || t.family.quota == metric) {
			sum += float64(t.cpus)
		}
	}
	return sum
}

// checkQuota refuses what a quota has no room for.
func (c *call) checkQuota(region, metric string, more float64) error {
	limit := c.limit(region, metric)
	if limit == 0 || c.usage(region, metric)+more <= limit {
		return nil
	}
	where := "in region " + region
	if region == "" {
		where = "globally"
	}
	return quotaExceeded(metric, limit, where)
}
