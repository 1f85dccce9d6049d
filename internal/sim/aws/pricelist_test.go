// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
)

// prices is a client of the price service in a region.
func (f *fixture) prices(region, secret string) *pricing.Client {
	c := f.config(f.key, secret, "")
	c.Region = region
	return pricing.NewFromConfig(c)
}

func matching(pairs ...string) (all []types.Filter) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, types.Filter{Field: &pairs[i], Value: &pairs[i+1], Type: types.FilterTypeTermMatch})
	}
	return all
}

// TestPricesOfATypeAreMany: a client that takes the first one gets a wrong price.
func TestPricesOfATypeAreMany(t *testing.T) {
	f := start(t, aws.Seed{})
	in := &pricing.GetProductsInput{ServiceCode: new("AmazonEC2"), MaxResults: new(int32(4)), Filters: matching("instanceType", "m5.xlarge", "regionCode", "eu-central-1")}
	var all []string
	pages := 0
	for more := true; more; more = in.NextToken != nil {
		out, err := f.prices("us-east-1", f.secret).GetProducts(t.Context(), in)
		cloudtest.Must(t, err)
		if *out.FormatVersion != "aws_v1" {
			t.Error(*out.FormatVersion)
		}
		all, in.NextToken = append(all, out.PriceList...), out.NextToken
		pages++
	}
	if len(all) != 10 || pages != 3 {
		t.Errorf("%d products on %d pages", len(all), pages)
	}
	for _, want := range []string{`"operatingSystem":"Windows"`, `"tenancy":"Dedicated"`, `"capacitystatus":"AllocatedCapacityReservation"`, `"marketoption":"CapacityBlock"`, `"Reserved":{`, `"USD":"0.1920000000"`, `"effectiveDate":"2099-01-01T00:00:00Z"`} {
		if !strings.Contains(strings.Join(all, "\n"), want) {
			t.Errorf("no product has %s", want)
		}
	}
	for _, text := range all {
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	}
}

func TestProductsAreFiltered(t *testing.T) {
	f, denied := start(t, aws.Seed{}), start(t, aws.Seed{Policy: document("ec2:*")})
	for reason, c := range map[string]struct {
		*fixture
		region, secret string
		service        string
		filters        []types.Filter
		want           string
	}{
		"one":                           {f, "eu-central-1", f.secret, "AmazonEC2", matching("volumeApiName", "gp3", "regionCode", "eu-central-1", "productFamily", "Storage"), "1"},
		"a volume's other charges":      {f, "ap-south-1", f.secret, "AmazonEC2", matching("volumeApiName", "gp3", "regionCode", "eu-central-1"), "3"},
		"two regions":                   {f, "us-east-1", f.secret, "AWSELB", matching("productFamily", "Load Balancer-Network", "ServiceCode", "AWSELB"), "6"},
		"values as they are":            {f, "us-east-1", f.secret, "AmazonEC2", matching("operatingSystem", "linux"), "0"},
		"a field that no product has":   {f, "us-east-1", f.secret, "AmazonVPC", matching("colour", "red"), "0"},
		"a service that does not exist": {f, "us-east-1", f.secret, "AmazonEC3", nil, "InvalidParameterException"},
		"a filter without a value":      {f, "us-east-1", f.secret, "AmazonVPC", []types.Filter{{Field: new("group"), Type: "EQUAL", Value: new("x")}}, "ValidationException"},
		"a region without the service":  {f, "eu-west-1", f.secret, "AmazonVPC", nil, "no such host"},
		"another secret":                {f, "us-east-1", "other", "AmazonVPC", nil, "InvalidSignatureException"},
		"no permission":                 {denied, "us-east-1", denied.secret, "AmazonVPC", nil, "AccessDeniedException"},
	} {
		out, err := c.prices(c.region, c.secret).GetProducts(t.Context(), &pricing.GetProductsInput{ServiceCode: &c.service, Filters: c.filters})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(len(out.PriceList))
		}
		if got != c.want && (len(c.want) < 3 || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s", reason, got)
		}
	}
}
