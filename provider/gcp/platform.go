// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// briefly is how long images and subnetworks are kept: as long as the machines of one
	// cluster are requested.
	briefly = 5 * time.Second
	// fresh is how long zones and machine types are kept: they change by the month.
	fresh = 5 * time.Minute
	// gatherFor is how long calls of deletions wait for each other: many at once are answered
	// together, each by a request that began after it asked.
	gatherFor = 200 * time.Millisecond
	// mostKeys is how many machines one filter names: it is a part of the URL.
	mostKeys = 25
)

// platform is a connection to one region of one project.
type platform struct {
	clients
	spec   v1alpha1.GCPSpec
	config string

	// What many calls ask for at the same time is read with one request.
	seen     *cloud.Batch[[]*computepb.Instance]
	leaving  *cloud.Batch[[]*computepb.Instance] // those that are deleted
	remnants *cloud.Batch[[]*computepb.Disk]
	begun    *cloud.Batch[[]*computepb.Operation]
	callers  *cloud.Batch[provider.Identity]

	places   *cloud.Recent[[]*computepb.Zone]
	sizes    *cloud.Recent[[]cloud.Size]
	pictures *cloud.Recent[*computepb.Image]
	networks *cloud.Recent[*computepb.Subnetwork]
}

func newPlatform(api clients, spec v1alpha1.GCPSpec, config string) *platform {
	p := &platform{clients: api, spec: spec, config: config}
	p.seen = cloud.NewBatch(mostKeys, p.readInstances)
	p.leaving = cloud.NewBatch(mostKeys, p.readInstances).Apart(gatherFor)
	p.remnants = cloud.NewBatch(mostKeys, p.readDisks).Apart(gatherFor)
	p.begun = cloud.NewBatch(mostKeys, p.readOperations).Apart(gatherFor)
	p.callers = cloud.NewBatch(mostKeys, p.caller).Apart(gatherFor)
	p.places, p.sizes = cloud.NewRecent[[]*computepb.Zone](fresh), cloud.NewRecent[[]cloud.Size](fresh)
	p.pictures, p.networks = cloud.NewRecent[*computepb.Image](briefly), cloud.NewRecent[*computepb.Subnetwork](briefly)
	return p
}

// identify identifies the region of the project by the number that Compute Engine gave it:
// the id of a project that was deleted can be used again.
func (p *platform) identify(ctx context.Context) (provider.Identity, error) {
	identity, err := p.callers.Do(ctx, "")
	if err != nil {
		return "", apiError("identify the project of "+p.config, err)
	}
	return identity, nil
}

func (p *platform) caller(ctx context.Context, _ []string) (provider.Identity, error) {
	project, err := p.projects.Get(ctx, &computepb.GetProjectRequest{Project: p.spec.ProjectID})
	if err != nil {
		return "", err
	}
	if name := project.GetName(); name != p.spec.ProjectID {
		return "", provider.Invalid.New("", provider.ReasonPlatformRefused, fmt.Errorf("project %s has the ID %q, which links and provider IDs contain", p.spec.ProjectID, name), "set spec.gcp.projectID to "+name)
	}
	return provider.NewIdentity(provider.Mark{Name: "project", Value: strconv.FormatUint(project.GetId(), 10) + "/" + p.spec.Region}), nil
}

// lastOf returns the last part of a path or URL, which is the name of the object.
func lastOf(link string) string { return link[strings.LastIndex(link, "/")+1:] }

// pathOf returns a link without its server and version: they depend on the endpoint.
func pathOf(link string) string {
	if i := strings.Index(link, "projects/"); i >= 0 {
		return link[i:]
	}
	return link
}

// partOf returns what follows a word in a path, such as the zone in a link of an instance.
func partOf(link, word string) string {
	_, after, _ := strings.Cut(link, "/"+word+"/")
	name, _, _ := strings.Cut(after, "/")
	return name
}
