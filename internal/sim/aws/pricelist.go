// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

// priceRegions are those that have the price service.
func priceRegions() []string {
	return []string{"us-east-1", "eu-central-1", "ap-south-1", "cn-northwest-1"}
}

func priceOperations() map[string]operation {
	return about(pricing, "", map[string]func(*call) (fields, error){"GetProducts": getProducts})
}

// getProducts answers with the products of a service that match all filters. A field that
// products do not have matches none.
func getProducts(c *call) (fields, error) {
	if v := c.params.String("FormatVersion"); v != "" && v != "aws_v1" {
		return nil, refuse("InvalidParameterException", "Format version %s is not supported.", v)
	}
	all, known := c.offers()[c.params.String("ServiceCode")]
	if !known {
		return nil, refuse("InvalidParameterException", "Service code %s is not valid.", c.params.String("ServiceCode"))
	}
	var found []any
	filters := c.params.Each("Filters")
	for _, p := range all {
		if p.matches(filters) {
			raw, err := json.Marshal(p.show())
			if err != nil {
				return nil, err
			}
			found = append(found, string(raw))
		}
	}
	part, next, err := page(c, pages{size: "MaxResults", token: "NextToken", least: 1, most: 100, otherwise: 100}, found)
	if err != nil {
		return nil, refuse("InvalidNextTokenException", "The pagination token is invalid.")
	}
	return fields{"FormatVersion", "aws_v1", "PriceList", members(part), "NextToken", next}, nil
}

// matches compares the attributes with filters, without regard to case in their names.
func (p product) matches(filters []model.Params) bool {
	for _, f := range filters {
		value, has := p.attribute(f.String("Field"))
		if !has || value != f.String("Value") {
			return false
		}
	}
	return true
}

func (p product) attribute(field string) (value string, has bool) {
	if value, has = p.attributes[field]; has {
		return value, true
	}
	if strings.EqualFold(field, "productFamily") {
		return p.family, p.family != ""
	}
	for name, v := range p.attributes {
		if strings.EqualFold(name, field) {
			return v, true
		}
	}
	return "", false
}
