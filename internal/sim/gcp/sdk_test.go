// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"errors"
	"net/http"
	"testing"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

// TestTheClientOfGoogleUsesIt has the vendor's own client read what it wrote.
func TestTheClientOfGoogleUsesIt(t *testing.T) {
	f := start(t, gcp.Seed{})
	c, err := compute.NewInstancesRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: bearer{f}}), option.WithEndpoint("https://compute.googleapis.com"))
	cloudtest.Must(t, err)
	defer c.Close()
	order := &computepb.Instance{
		Name: new("cp-0"), MachineType: new("zones/" + zone + "/machineTypes/e2-standard-2"), Labels: map[string]string{"role": "cp"},
		Disks: []*computepb.AttachedDisk{{Boot: new(true), AutoDelete: new(true), InitializeParams: &computepb.AttachedDiskInitializeParams{
			SourceImage: new("global/images/talos-v1-9-2-amd64"), DiskSizeGb: new(int64(20)),
		}}},
		NetworkInterfaces: []*computepb.NetworkInterface{{Subnetwork: new("regions/europe-west3/subnetworks/default")}},
	}
	insert := &computepb.InsertInstanceRequest{Project: project, Zone: zone, InstanceResource: order, RequestId: new("6f9619ff-8b86-4d01-b42d-00cf4fc964ff")}
	o, err := c.Insert(t.Context(), insert)
	cloudtest.Must(t, err)
	cloudtest.Must(t, o.Wait(t.Context()))
	i, err := c.Get(t.Context(), &computepb.GetInstanceRequest{Project: project, Zone: zone, Instance: "cp-0"})
	cloudtest.Must(t, err)
	if i.GetStatus() != "RUNNING" || i.GetLabels()["role"] != "cp" || i.GetDisks()[0].GetDiskSizeGb() != 20 || i.GetNetworkInterfaces()[0].GetNetworkIP() == "" {
		t.Errorf("the instance is %v", i)
	}
	insert.RequestId = nil
	var refusal *googleapi.Error
	if _, err := c.Insert(t.Context(), insert); !errors.As(err, &refusal) || refusal.Code != http.StatusConflict || refusal.Errors[0].Reason != "alreadyExists" {
		t.Errorf("the second insert: %v", err)
	}
	found := 0
	for _, err := range c.AggregatedList(t.Context(), &computepb.AggregatedListInstancesRequest{Project: project, Filter: new(`labels.role = "cp"`)}).All() {
		cloudtest.Must(t, err)
		found++
	}
	if found == 0 {
		t.Error("nothing is listed")
	}
	o, err = c.Delete(t.Context(), &computepb.DeleteInstanceRequest{Project: project, Zone: zone, Instance: "cp-0"})
	cloudtest.Must(t, err)
	cloudtest.Must(t, o.Wait(t.Context()))
}

// bearer adds the token of the user.
type bearer struct{ *fixture }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.http.Transport.RoundTrip(r)
}
