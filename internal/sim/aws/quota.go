// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

// quota is a limit of the account.
type quota struct {
	code, name, service string
	value               float64
}

func quotaOperations() map[string]operation {
	return about(servicequotas, "", map[string]func(*call) (fields, error){"GetServiceQuota": getQuota, "ListServiceQuotas": listQuotas})
}

// quotaOf is how many processors the types of a bucket may have together.
func (a *AWS) quotaOf(bucket string) int {
	if bucket == "Standard" {
		return a.seed.VCPUs
	}
	return 0
}

func (a *AWS) quotas() []quota {
	return []quota{
		{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", ec2, float64(a.quotaOf("Standard"))},
		{"L-417A185B", "Running On-Demand P instances", ec2, float64(a.quotaOf("P"))},
		{"L-DB2E81BA", "Running On-Demand G and VT instances", ec2, float64(a.quotaOf("G"))},
		{"L-0263D0A3", "EC2-VPC Elastic IPs", ec2, 5},
		{"L-69A177A2", "Network Load Balancers per Region", elb, maxBalancers},
		{"L-B22855CB", "Target Groups per Region", elb, maxTargetGroups},
	}
}

func (c *call) showQuota(q quota) fields {
	return fields{
		"ServiceCode", q.service, "QuotaCode", q.code, "QuotaName", q.name, "Value", q.value, "Unit", "None", "Adjustable", true, "GlobalQuota", false,
		"QuotaArn", c.arn(servicequotas, q.service+"/"+q.code),
	}
}

func getQuota(c *call) (fields, error) {
	for _, q := range c.quotas() {
		if q.service == c.params.String("ServiceCode") && q.code == c.params.String("QuotaCode") {
			return fields{"Quota", c.showQuota(q)}, nil
		}
	}
	return nil, refuse("NoSuchResourceException", "The request failed because the specified quota does not exist.")
}

func listQuotas(c *call) (fields, error) {
	var all []quota
	for _, q := range c.quotas() {
		if q.service == c.params.String("ServiceCode") {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return nil, refuse("NoSuchResourceException", "The request failed because the specified service does not exist.")
	}
	part, next, err := page(c, pages{size: "MaxResults", token: "NextToken", least: 1, most: 100, otherwise: 100}, all)
	if err != nil {
		return nil, err
	}
	return fields{"Quotas", members(list(part, c.showQuota)), "NextToken", next}, nil
}
