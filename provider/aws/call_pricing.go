// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
)

// pricingCalls are the operations of the Price List that the driver uses.
type pricingCalls struct {
	GetProducts call[pricing.GetProductsInput, pricing.GetProductsOutput, pricing.Options]
}

// pricingCallsOf returns the operations of the service for a region. It has none for
// partitions in which AWS has no price service.
func pricingCallsOf(c aws.Config) pricingCalls {
	region := priceRegion(c.Region)
	if region == "" {
		return pricingCalls{}
	}
	c.Region = region
	return pricingCalls{GetProducts: pricing.NewFromConfig(c).GetProducts}
}

// priceRegion is where the prices of a region are asked for: the service is in few regions,
// and knows those of its partition.
func priceRegion(region string) string {
	for _, without := range []string{"us-gov-", "us-iso", "eu-iso", "eusc-"} {
		if strings.HasPrefix(region, without) {
			return ""
		}
	}
	if strings.HasPrefix(region, "cn-") {
		return "cn-northwest-1"
	}
	return "us-east-1"
}
