// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/googleapi"

	"github.com/butlerdotdev/butler/provider"
)

// actAs is needed for machines with a service account. It may be granted on that account.
const actAs = "iam.serviceAccounts.actAs"

// permissions returns every permission that machines and load balancers need. The custom
// role in the guide has the same.
func permissions() []string {
	return []string{
		"compute.addresses.create", "compute.addresses.createInternal", "compute.addresses.delete", "compute.addresses.deleteInternal", "compute.addresses.get",
		"compute.addresses.list", "compute.addresses.use", "compute.addresses.useInternal",
		"compute.disks.create", "compute.disks.delete", "compute.disks.list", "compute.disks.setLabels",
		"compute.firewalls.create", "compute.firewalls.delete", "compute.firewalls.get", "compute.firewalls.list", "compute.firewalls.update",
		"compute.forwardingRules.create", "compute.forwardingRules.delete", "compute.forwardingRules.list",
		"compute.globalOperations.list",
		"compute.images.get", "compute.images.getFromFamily", "compute.images.list", "compute.images.useReadOnly",
		"compute.instanceGroups.create", "compute.instanceGroups.delete", "compute.instanceGroups.get", "compute.instanceGroups.list",
		"compute.instanceGroups.update", "compute.instanceGroups.use",
		"compute.instances.create", "compute.instances.delete", "compute.instances.get", "compute.instances.list", "compute.instances.setLabels",
		"compute.instances.setMetadata", "compute.instances.setServiceAccount", "compute.instances.setTags", "compute.instances.use",
		"compute.machineTypes.get", "compute.machineTypes.list",
		"compute.networks.updatePolicy", "compute.networks.use",
		"compute.projects.get",
		"compute.regionBackendServices.create", "compute.regionBackendServices.delete", "compute.regionBackendServices.get", "compute.regionBackendServices.list",
		"compute.regionBackendServices.update", "compute.regionBackendServices.use",
		"compute.regionHealthChecks.create", "compute.regionHealthChecks.delete", "compute.regionHealthChecks.get", "compute.regionHealthChecks.list",
		"compute.regionHealthChecks.update", "compute.regionHealthChecks.use", "compute.regionHealthChecks.useReadOnly",
		"compute.regionOperations.list",
		"compute.regions.get",
		"compute.routers.get", "compute.routers.list",
		"compute.routes.list",
		"compute.subnetworks.get", "compute.subnetworks.list", "compute.subnetworks.use", "compute.subnetworks.useExternalIp",
		"compute.zoneOperations.list",
		"compute.zones.list",
		actAs,
	}
}

// conditional are the permissions that some settings need only, or that may be granted on
// another object than the project.
func (p preflight) conditional(permission string) bool {
	switch permission {
	case actAs, "compute.instances.setServiceAccount":
		return p.spec.ServiceAccount == ""
	case "compute.subnetworks.useExternalIp":
		return !p.spec.PublicIP
	case "compute.routes.list", "compute.images.list", "compute.images.getFromFamily":
		return true
	}
	return false
}

// permissions asks which permissions the credentials have on the project. Where that is not
// allowed, nothing is known.
func (p preflight) permissions(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f := provider.Finding{Check: "permissions", Verdict: provider.Unknown}
	granted, err := p.granted(ctx)
	if err != nil {
		mapped := apiError("", err)
		if provider.KindOf(mapped) == provider.Unavailable || provider.ReasonOf(mapped) == provider.ReasonCredentialsRefused {
			return nil, err
		}
		f.Message, f.Hint = "the project does not report which permissions are granted", "enable the Cloud Resource Manager API, or compare the role with docs/getting-started/gcp.md"
		return []provider.Finding{f}, nil
	}
	denied := slices.DeleteFunc(permissions(), func(one string) bool { return slices.Contains(granted, one) || p.conditional(one) })
	if f.Verdict = provider.Passed; len(denied) > 0 {
		f.Verdict, f.Message = provider.Refused, "not granted: "+strings.Join(denied, ", ")
		f.Hint = "grant the permissions on the project, see docs/getting-started/gcp.md"
	}
	if slices.Equal(denied, []string{actAs}) {
		f.Verdict, f.Message = provider.Unknown, actAs+" is not granted on the project; it may be granted on "+p.spec.ServiceAccount
	}
	return []provider.Finding{f}, nil
}

// mostTested is how many permissions one request tests.
const mostTested = 100

// granted returns the permissions that the credentials have on the project.
func (p preflight) granted(ctx context.Context) (all []string, err error) {
	for some := range slices.Chunk(permissions(), mostTested) {
		content, err := json.Marshal(map[string]any{"permissions": some})
		if err != nil {
			return nil, err
		}
		to := fmt.Sprintf("%s/v3/projects/%s:testIamPermissions", cmp.Or(p.base, "https://cloudresourcemanager.googleapis.com"), p.spec.ProjectID)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		var said struct{ Permissions []string }
		if err := p.call(r, &said); err != nil {
			return nil, err
		}
		all = append(all, said.Permissions...)
	}
	return all, nil
}

// call sends a request of a service without a client.
func (p *platform) call(r *http.Request, into any) error {
	answer, err := p.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if err := googleapi.CheckResponse(answer); err != nil {
		return err
	}
	if json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(into) != nil {
		return errForeign
	}
	return nil
}
