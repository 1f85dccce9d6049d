// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"
	"github.com/golang-jwt/jwt/v5"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// answered is the status of an answer with its code, or with that of its first detail.
func answered(status int, body string) string {
	var e struct {
		Error struct {
			Code    string
			Details []struct{ Code string }
		}
	}
	_ = json.Unmarshal([]byte(body), &e) // a body that is none has no code
	if len(e.Error.Details) > 0 {
		return fmt.Sprint(status, " ", e.Error.Details[0].Code)
	}
	return strings.TrimSpace(fmt.Sprint(status, " ", e.Error.Code))
}

// write sends the properties of a resource, which has a location and the SKU Standard.
func (f *fixture) write(t *testing.T, kind, name, properties string) string {
	t.Helper()
	sku := `"sku":{"name":"Standard"},`
	if strings.HasSuffix(kind, "virtualNetworks") || strings.HasSuffix(kind, "routeTables") || strings.HasSuffix(kind, "Groups") || strings.HasSuffix(kind, "networkInterfaces") {
		sku = ""
	}
	return answered(f.call(t, http.MethodPut, resources+kind+"/"+name+"?api-version=2025-01-01", f.token(t), `{"location":"westeurope",`+sku+`"properties":`+properties+`}`))
}

// TestPartsOfTheNetworkAreRefused: what the services check of bodies that can be read.
func TestPartsOfTheNetworkAreRefused(t *testing.T) {
	f := start(t, azure.Seed{})
	f.publicAddress(t, "api")
	const (
		routes, lb, nsg, vnet, nat = "Microsoft.Network/routeTables", "Microsoft.Network/loadBalancers", "Microsoft.Network/networkSecurityGroups", "Microsoft.Network/virtualNetworks", "Microsoft.Network/natGateways"
		address, nic               = "Microsoft.Network/publicIPAddresses", "Microsoft.Network/networkInterfaces"
		inside                     = `"frontendIPConfigurations":[{"name":"front","properties":{"subnet":{"id":"` + subnetID + `"}}}]`
		outside                    = `"frontendIPConfigurations":[{"name":"front","properties":{"publicIPAddress":{"id":"` + resources + address + `/api"}}}]`
		pool                       = `"backendAddressPools":[{"name":"pool"}]`
		front                      = `{"id":"` + resources + lb + `/x/frontendIPConfigurations/front"}`
		to                         = `{"id":"` + resources + lb + `/x/backendAddressPools/pool"}`
		outbound                   = `"outboundRules":[{"name":"out","properties":{"frontendIPConfigurations":[` + front + `],"backendAddressPool":` + to + `}}]`
		secure                     = `"access":"Allow","direction":"Inbound","sourcePortRange":"*","sourceAddressPrefix":"*","destinationAddressPrefix":"*"`
	)
	rule := func(further string) string {
		return `"loadBalancingRules":[{"name":"rule","properties":{"frontendIPConfiguration":` + front + `,"backendAddressPool":` + to + `,"frontendPort":1,"backendPort":1` + further + `}}]`
	}
	probe := func(properties string) string {
		return `{` + inside + `,"probes":[{"name":"probe","properties":{` + properties + `}}]}`
	}
	secured := func(properties string) string {
		return `{"securityRules":[{"name":"rule","properties":{` + properties + `}}]}`
	}
	ip := func(further string) string {
		return `{"ipConfigurations":[{"name":"a","properties":{"subnet":{"id":"` + subnetID + `"}` + further + `}}]}`
	}
	for what, c := range map[string]struct{ kind, properties, want string }{
		"route without a prefix":       {routes, `{"routes":[{"name":"a","properties":{"addressPrefix":"x","nextHopType":"Internet"}}]}`, "400 RouteInvalid"},
		"route to nothing":             {routes, `{"routes":[{"name":"a","properties":{"addressPrefix":"0.0.0.0/0","nextHopType":"Moon"}}]}`, "400 RouteInvalid"},
		"appliance without an address": {routes, `{"routes":[{"name":"a","properties":{"addressPrefix":"0.0.0.0/0","nextHopType":"VirtualAppliance"}}]}`, "400 RouteNextHopIPAddressInvalid"},
		"two routes of a name":         {routes, `{"routes":[{"name":"a","properties":{"addressPrefix":"0.0.0.0/0","nextHopType":"None"}},{"name":"A","properties":{"addressPrefix":"0.0.0.0/0","nextHopType":"None"}}]}`, "400 DuplicateResourceName"},

		"frontend without an address":     {lb, `{"frontendIPConfigurations":[{"name":"front","properties":{}}]}`, "400 LoadBalancerFrontendIPConfigurationMustHaveSubnetOrPublicIP"},
		"frontend in a zone":              {lb, `{"frontendIPConfigurations":[{"name":"front","zones":["1"],"properties":{"publicIPAddress":{"id":"` + resources + address + `/api"}}}]}`, "400 LoadBalancerFrontendIPConfigCannotHaveZoneWhenReferencingPublicIPAddress"},
		"frontend without a static one":   {lb, `{"frontendIPConfigurations":[{"name":"front","properties":{"privateIPAllocationMethod":"Static","subnet":{"id":"` + subnetID + `"}}}]}`, "400 PrivateIPAddressMissing"},
		"frontend with no address at all": {lb, `{"frontendIPConfigurations":[{"name":"front","properties":{"privateIPAllocationMethod":"Static","privateIPAddress":"x","subnet":{"id":"` + subnetID + `"}}}]}`, "400 InvalidIPAddress"},
		"probe of port 0":                 {lb, probe(`"protocol":"Tcp","port":0`), "400 ProbePortOutOfRange"},
		"probe that is too fast":          {lb, probe(`"protocol":"Tcp","port":1,"intervalInSeconds":4`), "400 ProbeIntervalOutOfRange"},
		"TCP probe with a path":           {lb, probe(`"protocol":"Tcp","port":1,"requestPath":"/"`), "400 ProbeRequestPathNotAllowed"},
		"HTTP probe without a path":       {lb, probe(`"protocol":"Http","port":1`), "400 ProbeRequestPathMissing"},
		"probe of another protocol":       {lb, probe(`"protocol":"Icmp","port":1`), "400 InvalidProbeProtocol"},
		"pool with half an address":       {lb, `{` + inside + `,"backendAddressPools":[{"name":"pool","properties":{"loadBalancerBackendAddresses":[{"name":"a","properties":{}}]}}]}`, "400 LoadBalancerBackendAddressIncomplete"},
		"rule without a frontend":         {lb, `{` + inside + `,"loadBalancingRules":[{"name":"rule","properties":{"protocol":"Tcp","frontendPort":1,"backendPort":1}}]}`, "400 LoadBalancingRuleIncomplete"},
		"rule of another protocol":        {lb, `{` + inside + `,` + pool + `,` + rule(`,"protocol":"Icmp"`) + `}`, "400 InvalidProtocol"},
		"rule of port 0":                  {lb, `{` + inside + `,` + pool + `,` + strings.Replace(rule(`,"protocol":"Tcp"`), `"frontendPort":1`, `"frontendPort":0`, 1) + `}`, "400 LoadBalancingRulePortOutOfRange"},
		"floating rule of two ports":      {lb, `{` + inside + `,` + pool + `,` + strings.Replace(rule(`,"protocol":"Tcp","enableFloatingIP":true`), `"backendPort":1`, `"backendPort":2`, 1) + `}`, "400 LoadBalancingRuleFloatingIPPortMismatch"},
		"rule that is too patient":        {lb, `{` + inside + `,` + pool + `,` + rule(`,"protocol":"Tcp","idleTimeoutInMinutes":101`) + `}`, "400 LoadBalancingRuleIdleTimeoutOutOfRange"},
		"outbound rule without a pool":    {lb, `{` + outside + `,"outboundRules":[{"name":"out","properties":{"frontendIPConfigurations":[` + front + `]}}]}`, "400 OutboundRuleIncomplete"},
		"outbound rule of another pool":   {lb, `{` + outside + `,` + outbound + `}`, "400 InvalidResourceReference"},
		"outbound rule of no frontend":    {lb, `{` + pool + `,"frontendIPConfigurations":[],` + outbound + `}`, "400 InvalidResourceReference"},
		"outbound rule inside":            {lb, `{` + inside + `,` + pool + `,` + outbound + `}`, "400 OutboundRuleCannotBeUsedWithInternalFrontend"},
		"outbound rule beside SNAT":       {lb, `{` + outside + `,` + pool + `,` + rule(`,"protocol":"Tcp"`) + `,` + outbound + `}`, "400 LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule"},
		"inbound NAT rules":               {lb, `{` + inside + `,"inboundNatRules":[{}]}`, "400 NotSimulated"},

		"rule of priority 1":       {nsg, secured(secure + `,"protocol":"Tcp","priority":1,"destinationPortRange":"1"`), "400 SecurityRuleInvalidPriority"},
		"rule of no protocol":      {nsg, secured(secure + `,"protocol":"Quic","priority":100,"destinationPortRange":"1"`), "400 SecurityRuleParameterContainsUnsupportedValue"},
		"rule without ports":       {nsg, secured(secure + `,"protocol":"Tcp","priority":100`), "400 SecurityRuleIncomplete"},
		"rule with a wrong port":   {nsg, secured(secure + `,"protocol":"Tcp","priority":100,"destinationPortRange":"70000"`), "400 SecurityRuleInvalidPortRange"},
		"rule with a wrong prefix": {nsg, secured(strings.Replace(secure, `"sourceAddressPrefix":"*"`, `"sourceAddressPrefix":"here"`, 1) + `,"protocol":"Tcp","priority":100,"destinationPortRange":"1"`), "400 SecurityRuleInvalidAddressPrefix"},

		"network without prefixes": {vnet, `{"addressSpace":{"addressPrefixes":[]}}`, "400 NoAddressPrefixOrPoolProvided"},
		"network of half a prefix": {vnet, `{"addressSpace":{"addressPrefixes":["10.0.0.1/8"]}}`, "400 InvalidCIDRNotation"},
		"subnet outside":           {vnet, `{"addressSpace":{"addressPrefixes":["10.9.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.8.0.0/24"}}]}`, "400 NetcfgInvalidSubnet"},
		"subnets that overlap":     {vnet, `{"addressSpace":{"addressPrefixes":["10.9.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.9.0.0/24"}},{"name":"b","properties":{"addressPrefix":"10.9.0.128/25"}}]}`, "400 NetcfgSubnetRangesOverlap"},

		"address that changes":         {address, `{"publicIPAllocationMethod":"Dynamic"}`, "400 StandardSkuPublicIpAddressesMustBeStatic"},
		"address that is too patient":  {address, `{"publicIPAllocationMethod":"Static","idleTimeoutInMinutes":31}`, "400 PublicIPAddressIdleTimeoutIsOutOfRange"},
		"gateway of no prefix":         {nat, `{"publicIpPrefixes":[{"id":"x"}]}`, "400 InvalidResourceReference"},
		"interface without a subnet":   {nic, `{"ipConfigurations":[{"name":"a","properties":{}}]}`, "400 SubnetMissing"},
		"interface of another method":  {nic, ip(`,"privateIPAllocationMethod":"Random"`), "400 InvalidPrivateIPAllocationMethod"},
		"interface of no delete":       {nic, ip(`,"publicIPAddress":{"id":"` + resources + address + `/api","properties":{"deleteOption":"Keep"}}`), "400 InvalidDeleteOption"},
		"interface of no primary":      {nic, strings.Replace(ip(""), `]}`, `,{"name":"b","properties":{"subnet":{"id":"`+subnetID+`"}}}]}`, 1), "400 MultipleOrNoPrimaryIpConfigurations"},
		"interface without an address": {nic, `{"ipConfigurations":[]}`, "400 NetworkInterfaceMustHaveAtLeastOneIpConfiguration"},
	} {
		if got := f.write(t, c.kind, "x", c.properties); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestRouteTablesAndOutboundRulesAreKept, and cannot be deleted while a subnet uses them.
func TestRouteTablesAndOutboundRulesAreKept(t *testing.T) {
	f := start(t, azure.Seed{})
	const table = "Microsoft.Network/routeTables"
	if got := f.write(t, table, "out", `{"routes":[{"name":"all","properties":{"addressPrefix":"0.0.0.0/0","nextHopType":"VirtualAppliance","nextHopIpAddress":"10.40.0.9"}}]}`); got != "201" {
		t.Fatalf("route table: %s", got)
	}
	body := `{"properties":{"addressPrefix":"10.40.0.0/20","routeTable":{"id":"` + resources + table + `/out"}}}`
	if got := answered(f.call(t, http.MethodPut, subnetID+"?api-version=2025-01-01", f.token(t), body)); got != "200" {
		t.Fatalf("subnet: %s", got)
	}
	path := resources + table + "/out?api-version=2025-01-01"
	if status, body := f.call(t, http.MethodGet, path, f.token(t), ""); status != http.StatusOK || !strings.Contains(body, subnetID) || !strings.Contains(body, "10.40.0.9") {
		t.Errorf("%d %s", status, body)
	}
	if got := answered(f.call(t, http.MethodDelete, path, f.token(t), "")); got != "400 InUseRouteTableCannotBeDeleted" {
		t.Error(got)
	}
	f.publicAddress(t, "api")
	const lb = "Microsoft.Network/loadBalancers"
	id := resources + lb + "/out"
	if got := f.write(t, lb, "out", `{"frontendIPConfigurations":[{"name":"front","properties":{"publicIPAddress":{"id":"`+resources+`Microsoft.Network/publicIPAddresses/api"}}}],
		"backendAddressPools":[{"name":"pool","properties":{"loadBalancerBackendAddresses":[{"name":"a","properties":{"ipAddress":"10.40.0.9"}}]}}],
		"outboundRules":[{"name":"out","properties":{"frontendIPConfigurations":[{"id":"`+id+`/frontendIPConfigurations/front"}],"backendAddressPool":{"id":"`+id+`/backendAddressPools/pool"}}}]}`); got != "201" {
		t.Fatalf("load balancer: %s", got)
	}
	status, shown := f.call(t, http.MethodGet, id+"/backendAddressPools/pool?api-version=2025-01-01", f.token(t), "")
	if status != http.StatusOK || !strings.Contains(shown, "10.40.0.9") || !strings.Contains(shown, "outboundRules/out") {
		t.Errorf("%d %s", status, shown)
	}
}

func TestDisksCanGrowAndNotShrink(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	path := resources + "Microsoft.Compute/disks/one-os?api-version=2024-03-02"
	for what, c := range map[string]struct{ body, want string }{
		"smaller":     {`{"properties":{"diskSizeGB":10}}`, "400 ResizeDiskError"},
		"no JSON":     {`{`, "400 InvalidRequestContent"},
		"no property": {`{"properties":{"colour":"red"}}`, "400 BadRequest"},
	} {
		if got := answered(f.call(t, http.MethodPatch, path, f.token(t), c.body)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if got := answered(f.call(t, http.MethodPatch, path, f.token(t), `{"tags":{"a":"b"},"properties":{"diskSizeGB":30}}`)); got != "200" && got != "202" {
		t.Fatal(got)
	}
	disk, err := f.compute.NewDisksClient().Get(t.Context(), "example", "one-os", nil)
	cloudtest.Must(t, err)
	if *disk.Properties.DiskSizeGB != 30 || *disk.Tags["a"] != "b" || len(disk.Tags) != 1 || !strings.HasSuffix(*disk.ManagedBy, "/one") {
		t.Errorf("%d GB of %s, tags %v", *disk.Properties.DiskSizeGB, *disk.ManagedBy, disk.Tags)
	}
}

func TestPolicyDemandsTags(t *testing.T) {
	f := start(t, azure.Seed{RequiredTags: []string{"cost"}})
	_, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "one", nic(), nil)
	expect(t, "without the tag", err, "403 RequestDisallowedByPolicy")
	tagged := nic()
	tagged.Tags = map[string]*string{"Cost": new("1")}
	_, err = f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "one", tagged, nil)
	cloudtest.Must(t, err)
}

func TestAFullLocationFailsWithoutAZone(t *testing.T) {
	f := start(t, azure.Seed{FullLocation: true})
	f.createNIC(t, "one")
	p, err := f.compute.NewVirtualMachinesClient().BeginCreateOrUpdate(t.Context(), "example", "one", machine("one", func(v *armcompute.VirtualMachine) { v.Zones = nil }), nil)
	cloudtest.Must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "full location", err, "200 AllocationFailed")
}

func TestDrainRestartsTheMachine(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	f.Plan(t, "- {kind: drain, machine: one}")
	cloudtest.Until(t, "it starts again", func() bool {
		v, err := f.compute.NewVirtualMachinesClient().InstanceView(t.Context(), "example", "one", nil)
		cloudtest.Must(t, err)
		if got := *v.Statuses[1].Code; got != "PowerState/running" {
			t.Fatalf("it is %s", got)
		}
		return f.Boots.Load() == 2
	})
}

// TestLocationsThatDoNotExist: a subscription has resources in locations of the platform.
func TestLocationsThatDoNotExist(t *testing.T) {
	f := start(t, azure.Seed{Location: "nowhere"})
	put := func(name, location string) string {
		return answered(f.call(t, http.MethodPut, "/subscriptions/"+subscription+"/resourceGroups/"+name+"?api-version=2021-04-01", f.token(t), `{"location":"`+location+`"}`))
	}
	for _, c := range []struct{ name, location, want string }{
		{"a", "nowhere", "400 LocationNotAvailableForResourceGroup"}, {"a", "East US", "201"}, {"a", "westus", "409 InvalidResourceGroupLocation"}, {"x.", "eastus", "400 InvalidResourceGroup"},
	} {
		if got := put(c.name, c.location); got != c.want {
			t.Errorf("group %s in %s: %s, want %s", c.name, c.location, got, c.want)
		}
	}
	if got := answered(f.call(t, http.MethodPut, resources+"Microsoft.Network/routeTables/x?api-version=2025-01-01", f.token(t), `{"location":"nowhere","properties":{}}`)); got != "400 LocationNotAvailableForResourceType" {
		t.Error(got)
	}
}

// TestTokensOfOthersAreRefused: a token is for the resource manager, and of the tenant of
// the subscription.
func TestTokensOfOthersAreRefused(t *testing.T) {
	f := start(t, azure.Seed{})
	key, err := os.ReadFile(filepath.Join(f.Dir, "platform", "secrets", "tokens"))
	cloudtest.Must(t, err)
	good := jwt.MapClaims{
		"aud": "https://management.azure.com/", "appid": f.Credential(t, v1alpha1.KeyClientID), "tid": f.Credential(t, v1alpha1.KeyTenantID), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for what, c := range map[string]struct {
		claim string
		value any
		want  string
	}{
		"its own":            {"ver", "1.0", "200"},
		"another audience":   {"aud", "https://graph.microsoft.com", "401 InvalidAuthenticationTokenAudience"},
		"another tenant":     {"tid", subscription, "401 InvalidAuthenticationTokenTenant"},
		"an unknown client":  {"appid", subscription, "401 InvalidAuthenticationToken"},
		"one that has ended": {"exp", time.Now().Add(-time.Hour).Unix(), "401 ExpiredAuthenticationToken"},
	} {
		claims := maps.Clone(good)
		claims[c.claim] = c.value
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(key)
		cloudtest.Must(t, err)
		if got := answered(f.call(t, http.MethodGet, "/subscriptions?api-version=2022-12-01", token, "")); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if got := answered(f.call(t, http.MethodGet, "/subscriptions?api-version=2022-12-01", "", "", "Authorization", "Basic x")); got != "401 AuthenticationFailedInvalidHeader" {
		t.Error(got)
	}
}

// TestRequestsForTokensAreChecked in the order of the token endpoint.
func TestRequestsForTokensAreChecked(t *testing.T) {
	f := start(t, azure.Seed{})
	tenant := f.Credential(t, v1alpha1.KeyTenantID)
	good := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {f.Credential(t, v1alpha1.KeyClientID)}, "client_secret": {f.Credential(t, v1alpha1.KeyClientSecret)},
		"scope": {"https://management.azure.com/.default"},
	}
	for what, c := range map[string]struct {
		key, value string
		want       string
	}{
		"all of it":            {"x", "", ""},
		"no grant":             {"grant_type", "", "AADSTS900144"},
		"another grant":        {"grant_type", "password", "AADSTS70003"},
		"a scope of one right": {"scope", "https://management.azure.com/read", "AADSTS1002012"},
		"another resource":     {"scope", "https://graph.microsoft.com/.default", "AADSTS500011"},
		"no proof":             {"client_secret", "", "AADSTS7000216"},
		"another assertion":    {"client_assertion", "x", "AADSTS700023"},
	} {
		form := maps.Clone(good)
		form.Set(c.key, c.value)
		got, err := f.Client().PostForm("https://login.microsoftonline.com/"+tenant+"/oauth2/v2.0/token", form)
		cloudtest.Must(t, err)
		var body struct {
			Text string `json:"error_description"`
		}
		cloudtest.Must(t, json.NewDecoder(got.Body).Decode(&body))
		cloudtest.Must(t, got.Body.Close())
		if code, _, _ := strings.Cut(body.Text, ":"); code != c.want {
			t.Errorf("%s: %q, want %q", what, body.Text, c.want)
		}
	}
}
