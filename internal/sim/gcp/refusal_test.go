// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

// refused demands that calls are answered with these words.
func refused(t *testing.T, f *fixture, cases map[string]struct {
	verb, path string
	body       any
	want       string
},
) {
	t.Helper()
	for name, c := range cases {
		if got := reason(f.call(c.verb, c.path, c.body)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestRequestsAreCheckedBeforeTheyAreCarriedOut(t *testing.T) {
	f := start(t, gcp.Seed{})
	refused(t, f, map[string]struct {
		verb, path string
		body       any
		want       string
	}{
		"unknown method":    {http.MethodGet, "/zones/" + zone + "/things", nil, "404 notFound: "},
		"unknown parameter": {http.MethodGet, instances + "?limit=1", nil, `400 badRequest: Invalid JSON payload received. Unknown name "limit"`},
		"no number":         {http.MethodGet, instances + "?maxResults=x", nil, "400 badRequest: "},
		"too many":          {http.MethodGet, instances + "?maxResults=501", nil, "400 invalid: Invalid value for field 'maxResults'"},
		"bad page":          {http.MethodGet, instances + "?pageToken=x", nil, "400 invalid: Invalid value for field 'pageToken'"},
		"bad filter":        {http.MethodGet, instances + "?filter=name", nil, "400 invalid: Invalid value for field 'filter'"},
		"bad order":         {http.MethodGet, instances + "?orderBy=zone", nil, "400 invalid: Invalid value for field 'orderBy'"},
		"unknown zone":      {http.MethodGet, "/zones/mars-a/instances", nil, "400 invalid: Invalid value for field 'zone': 'mars-a'. Unknown zone."},
		"unknown region":    {http.MethodGet, "/regions/mars/addresses", nil, "400 invalid: Invalid value for field 'region'"},
		"unknown field":     {http.MethodPost, instances, object{"name": "x", "colour": "red"}, `400 badRequest: Invalid JSON payload received. Unknown name "colour" at 'resource': Cannot find field.`},
		"unknown inside":    {http.MethodPost, instances, object{"disks": []any{object{"shape": 1}}}, `400 badRequest: Invalid JSON payload received. Unknown name "shape" at 'resource.disks[0]'`},
		"wrong type":        {http.MethodPost, instances, object{"canIpForward": "perhaps"}, "400 badRequest: Invalid value at 'resource.canIpForward' (TYPE_BOOL)"},
		"no list":           {http.MethodPost, instances, object{"disks": object{}}, "400 badRequest: Invalid value at 'resource.disks'"},
		"wrong name":        {http.MethodPost, instances, object{"name": "1st"}, "400 invalid: Invalid value for field 'resource.name': '1st'. Must be a match of regex"},
		"wrong enum":        {http.MethodPost, region + "/addresses", object{"name": "x", "addressType": "OUTER"}, "400 invalid: Invalid value for field 'resource.addressType'"},
		"no JSON":           {http.MethodPost, instances, "text", "400 badRequest: "},
		"not simulated":     {http.MethodPost, instances, with(machine("x"), "minCpuPlatform", "any"), "400 invalid: The simulated platform does not have the field 'resource.minCpuPlatform'"},
		"bad request id":    {http.MethodPost, instances + "?requestId=x", machine("x"), "400 invalid: Invalid value for field 'requestId'"},
		"zero request id":   {http.MethodPost, instances + "?requestId=00000000-0000-0000-0000-000000000000", machine("x"), "400 invalid: Invalid value for field 'requestId'"},
		"missing":           {http.MethodGet, instances + "/none", nil, "404 notFound: The resource 'projects/butler-sim/zones/europe-west3-a/instances/none' was not found"},
		"missing operation": {http.MethodGet, "/zones/" + zone + "/operations/operation-1", nil, "404 notFound: "},
	})
	if got := reason(f.request(http.MethodGet, "https://compute.googleapis.com/compute/v1/projects/other-project/zones/"+zone+"/instances", nil)); got != "403 forbidden: Required 'compute.instances.list' permission for 'projects/other-project'" {
		t.Errorf("another project: %s", got)
	}
}

// with is an object with another value of one field.
func with(o object, key string, value any) object {
	o[key] = value
	return o
}

// withDisk changes the parameters of the boot disk of an order.
func withDisk(o object, key string, value any) object {
	o["disks"].([]any)[0].(object)["initializeParams"].(object)[key] = value
	return o
}

func TestInstancesInsertRefuses(t *testing.T) {
	f := start(t, gcp.Seed{FullZones: []string{"europe-west3-c"}})
	f.succeed(t, http.MethodPost, instances, machine("taken"))
	cases := map[string]struct {
		verb, path string
		body       any
		want       string
	}{}
	add := func(name string, o object, want string) {
		cases[name] = struct {
			verb, path string
			body       any
			want       string
		}{http.MethodPost, instances, o, want}
	}
	nic := func(n object) object { return with(machine("x"), "networkInterfaces", []any{n}) }
	items := func(key, value string) object {
		return with(machine("x"), "metadata", object{"items": []any{object{"key": key, "value": value}}})
	}
	add("taken name", machine("taken"), "409 alreadyExists: The resource 'projects/butler-sim/zones/europe-west3-a/instances/taken' already exists")
	add("taken disk", withDisk(machine("x"), "diskName", "taken"), "409 alreadyExists: The resource 'projects/butler-sim/zones/europe-west3-a/disks/taken' already exists")
	add("no name", with(machine("x"), "name", ""), "400 ")
	add("no type", with(machine("x"), "machineType", ""), "400 invalid: Invalid value for field 'resource.machineType'")
	add("unknown type", with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/z9"), "400 invalid: Invalid value for field 'resource.machineType'")
	add("type of another zone", with(machine("x"), "machineType", "zones/europe-west3-b/machineTypes/e2-standard-2"), "400 invalid: Invalid value for field 'resource.machineType'")
	add("type that the zone does not have", with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/c3-standard-4"), "400 invalid: ")
	add("odd custom type", with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/n2-custom-3-4096"), "400 invalid: ")
	add("custom memory", with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/n2-custom-2-1000"), "400 invalid: ")
	add("other architecture", with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/t2a-standard-2"), "400 invalid: Invalid value for field 'resource.machineType'")
	add("no disks", with(machine("x"), "disks", []any{}), "400 invalid: Invalid value for field 'resource.disks': ''. No disks are specified.")
	add("unknown image", withDisk(machine("x"), "sourceImage", "global/images/none"), "400 invalid: Invalid value for field 'resource.disks[0].initializeParams.sourceImage': 'global/images/none'. The referenced image resource cannot be found.")
	add("no URL", withDisk(machine("x"), "sourceImage", "none"), "400 invalid: ")
	add("small disk", withDisk(machine("x"), "diskSizeGb", "5"), "400 invalid: Invalid value for field 'resource.sizeGb': '5'. Requested disk size cannot be smaller than the image size (10 GB)")
	add("disk of another kind", withDisk(machine("x"), "diskType", "zones/"+zone+"/diskTypes/hyperdisk-balanced"), "400 invalid: [hyperdisk-balanced]")
	add("no interface", with(machine("x"), "networkInterfaces", []any{}), "400 invalid: Invalid value for field 'resource.networkInterfaces'")
	add("unknown subnetwork", nic(object{"subnetwork": "regions/europe-west3/subnetworks/none"}), "404 notFound: ")
	add("subnetwork of another region", nic(object{"subnetwork": "regions/us-east1/subnetworks/default"}), "400 invalid: ")
	add("address elsewhere", nic(object{"subnetwork": "regions/europe-west3/subnetworks/default", "networkIP": "192.168.0.1"}), "400 invalid: Invalid value for field 'resource.networkInterfaces[0].networkIP'")
	add("upper case label", with(machine("x"), "labels", object{"Tier": "gold"}), "400 invalid: Invalid value for field 'resource.labels'")
	add("long label", with(machine("x"), "labels", object{"tier": strings.Repeat("x", 64)}), "400 invalid: ")
	add("wrong tag", with(machine("x"), "tags", object{"items": []any{"A"}}), "400 invalid: Invalid value for field 'resource.tags.items[0]'")
	add("long metadata", items("user-data", strings.Repeat("x", 256<<10+1)), "400 invalid: Invalid value for field 'resource.metadata.items[0].value'")
	add("wrong metadata", items("user data", "x"), "400 invalid: Invalid value for field 'resource.metadata.items[0].key'")
	add("unknown account", with(machine("x"), "serviceAccounts", []any{object{"email": "x@example.com", "scopes": []any{"s"}}}), "400 SERVICE_ACCOUNT_ACCESS_DENIED: ")
	refused(t, f, cases)
	if all := f.get(t, instances)["items"].([]any); len(all) != 1 {
		t.Errorf("there are %d instances", len(all))
	}
}

func TestOperationsFailAsThePlatformSays(t *testing.T) {
	f := start(t, gcp.Seed{FullZones: []string{"europe-west3-b"}, Quotas: map[string]float64{"CPUS": 4, "STATIC_ADDRESSES": 1}})
	full := machine("x")
	full["machineType"] = "zones/europe-west3-b/machineTypes/e2-standard-2"
	withDisk(full, "diskType", "zones/europe-west3-b/diskTypes/pd-balanced")
	const other = "/zones/europe-west3-b/instances"
	failed(t, f.do(t, http.MethodPost, other, full), "ZONE_RESOURCE_POOL_EXHAUSTED", 503)
	for _, path := range []string{other + "/x", "/zones/europe-west3-b/disks/x"} {
		if status, _ := f.call(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s is left", path)
		}
	}
	failed(t, f.do(t, http.MethodPost, instances, with(machine("x"), "machineType", "zones/"+zone+"/machineTypes/e2-standard-8")), "QUOTA_EXCEEDED", 403)
	f.succeed(t, http.MethodPost, region+"/addresses", object{"name": "first"})
	if got := reason(f.call(http.MethodPost, region+"/addresses", object{"name": "second"})); got != "403 quotaExceeded: Quota 'STATIC_ADDRESSES' exceeded.  Limit: 1.0 in region europe-west3." {
		t.Error(got)
	}
	f.succeed(t, http.MethodPost, groups, object{"name": "g"})
	failed(t, f.do(t, http.MethodPost, groups+"/g/addInstances", object{"instances": []any{object{"instance": link(instances + "/none")}}}), "RESOURCE_NOT_FOUND", 404)
}

func failed(t *testing.T, operation object, code string, status int) {
	t.Helper()
	e, _ := operation["error"].(object)
	errs, _ := e["errors"].([]any)
	if len(errs) != 1 || errs[0].(object)["code"] != code || operation["httpErrorStatusCode"] != float64(status) {
		t.Errorf("the operation is %v, want %s", operation, code)
	}
}

func TestRequestIDsCreateOnce(t *testing.T) {
	f := start(t, gcp.Seed{FullZones: []string{zone}})
	const once, again = "?requestId=6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "?requestId=6f9619ff-8b86-4d01-b42d-00cf4fc964f0"
	first := f.do(t, http.MethodPost, instances+once, machine("x"))
	failed(t, first, "ZONE_RESOURCE_POOL_EXHAUSTED", 503)
	if repeated := f.do(t, http.MethodPost, instances+once, machine("x")); repeated["name"] != first["name"] {
		t.Errorf("the same id began %v after %v", repeated["name"], first["name"])
	}
	if other := f.do(t, http.MethodPost, instances+again, machine("x")); other["name"] == first["name"] {
		t.Error("another id returned the old operation")
	}
	if other := f.do(t, http.MethodPost, region+"/addresses"+once, object{"name": "x"}); other["name"] == first["name"] {
		t.Error("the id of another method returned its operation")
	}
}

func TestFingerprintsGuardChanges(t *testing.T) {
	f := start(t, gcp.Seed{})
	f.balance(t)
	i := f.get(t, instances+"/cp-0")
	labels := object{"labels": object{"a": "b"}, "labelFingerprint": i["labelFingerprint"]}
	f.succeed(t, http.MethodPost, instances+"/cp-0/setLabels", labels)
	metadata := object{"items": []any{object{"key": "k", "value": "v"}}, "fingerprint": i["metadata"].(object)["fingerprint"]}
	f.succeed(t, http.MethodPost, instances+"/cp-0/setMetadata", metadata)
	refused(t, f, map[string]struct {
		verb, path string
		body       any
		want       string
	}{
		"labels":   {http.MethodPost, instances + "/cp-0/setLabels", labels, "412 conditionNotMet: "},
		"metadata": {http.MethodPost, instances + "/cp-0/setMetadata", metadata, "412 conditionNotMet: "},
		"tags":     {http.MethodPost, instances + "/cp-0/setTags", object{"items": []any{"a"}, "fingerprint": "eA=="}, "412 conditionNotMet: "},
		"service":  {http.MethodPatch, services + "/lb", object{"timeoutSec": 10}, "412 conditionNotMet: "},
	})
	if now := f.get(t, instances+"/cp-0"); now["labels"].(object)["a"] != "b" {
		t.Errorf("the labels are %v", now["labels"])
	}
	s := f.get(t, services+"/lb")
	f.succeed(t, http.MethodPatch, services+"/lb", object{"backends": []any{}, "fingerprint": s["fingerprint"]})
	if now := f.get(t, services+"/lb"); len(now["backends"].([]any)) != 0 || now["fingerprint"] == s["fingerprint"] {
		t.Errorf("the backend service is %v", now)
	}
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	f := start(t, gcp.Seed{})
	for _, name := range []string{"a", "b", "c"} {
		f.succeed(t, http.MethodPost, instances, with(machine("cp-"+name), "labels", object{"role": name, "set": "x"}))
	}
	for filter, want := range map[string]string{
		"": "cp-a cp-b cp-c", "name%3Dcp-a": "cp-a", "name%3Dcp-*": "cp-a cp-b cp-c", "labels.role%3D%22b%22": "cp-b", "labels.role:*": "cp-a cp-b cp-c",
		"labels.none:*": "", "labels.role%21%3Db": "cp-a cp-c", "(labels.role%3Da)+(labels.set%3Dx)": "cp-a", "labels.role%3Da+OR+labels.role%3Dc": "cp-a cp-c",
		"NOT+labels.role%3Da": "cp-b cp-c", "name+eq+cp-[ab]": "cp-a cp-b", "name+ne+cp-[ab]": "cp-c", "status%3DRUNNING+AND+labels.set%3Dx": "cp-a cp-b cp-c",
	} {
		if got := names(f.get(t, instances+"?filter="+filter)); got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
	first := f.get(t, instances+"?maxResults=2")
	second := f.get(t, instances+"?maxResults=2&pageToken="+first["nextPageToken"].(string))
	if names(first) != "cp-a cp-b" || names(second) != "cp-c" || second["nextPageToken"] != nil {
		t.Errorf("pages are %q and %q", names(first), names(second))
	}
	places := f.get(t, "/aggregated/instances")["items"].(object)
	if here := places["zones/"+zone].(object); len(here["instances"].([]any)) != 3 || places["zones/europe-west3-b"].(object)["warning"] == nil {
		t.Errorf("the aggregated list is %v", places)
	}
}

func names(list object) string {
	var out []string
	items, _ := list["items"].([]any)
	for _, one := range items {
		out = append(out, one.(object)["name"].(string))
	}
	return strings.Join(out, " ")
}
