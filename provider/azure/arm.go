// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// API versions of what is read without a client of its own.
const (
	versionResources     = "2021-04-01"
	versionSubscriptions = "2022-12-01"
	versionPermissions   = "2022-04-01"
	versionFeatures      = "2021-07-01"
)

// subscription and group are what the driver reads of a subscription and a resource group.
type (
	subscription struct {
		SubscriptionID string `json:"subscriptionId"`
		TenantID       string `json:"tenantId"`
		DisplayName    string `json:"displayName"`
		State          string `json:"state"`
	}
	group struct {
		Location string `json:"location"`
	}
	feature struct {
		Properties struct {
			State string `json:"state"`
		} `json:"properties"`
	}
	permission struct {
		Actions    []string `json:"actions"`
		NotActions []string `json:"notActions"`
	}
	permissions struct {
		Value    []permission `json:"value"`
		NextLink string       `json:"nextLink"`
	}
)

// read gets an object of the resource manager, or the next page of a listing by its link.
func read[T any](ctx context.Context, c clients, path, version string) (out T, err error) {
	link := path
	if version != "" {
		link = runtime.JoinPaths(c.arm.Endpoint(), path)
	}
	request, err := runtime.NewRequest(ctx, http.MethodGet, link)
	if err != nil {
		return out, err
	}
	if version != "" {
		query := request.Raw().URL.Query()
		query.Set("api-version", version)
		request.Raw().URL.RawQuery = query.Encode()
	}
	answer, err := c.arm.Pipeline().Do(request)
	if err != nil {
		return out, err
	}
	defer answer.Body.Close()
	if !runtime.HasStatusCode(answer, http.StatusOK) {
		return out, runtime.NewResponseError(answer)
	}
	content, err := runtime.Payload(answer)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(content, &out)
}

// drain reads all pages of a listing.
func drain[R, T any](ctx context.Context, pager *runtime.Pager[R], items func(R) []*T) (all []*T, err error) {
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, items(page)...)
	}
	return all, nil
}
