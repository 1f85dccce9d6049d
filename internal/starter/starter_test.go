// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package starter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/configs/examples"
	"github.com/butlerdotdev/butler/internal/explain"
	"github.com/butlerdotdev/butler/internal/manifest"
)

const sample = `# A comment.
kind: ProviderConfig
spec:
  provider: aws
  credentialsRef:
    name: creds
  aws:
    region: eu-central-1 # the region
    subnetIDs:
      - subnet-1
      - "subnet-2"
---
kind: ClusterBootstrap
metadata:
  name: old
spec:
  cluster:
    name: old
    controlPlane: {replicas: 3}
  network:
    vip: "10.0.0.1"
`

func TestOnlyWhatDependsOnTheSiteIsAsked(t *testing.T) {
	got, err := Values([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, v := range got {
		paths = append(paths, v.Path+"="+v.Text)
	}
	want := []string{"spec.cluster.name=old", "spec.network.vip=10.0.0.1", "spec.aws.region=eu-central-1", "spec.aws.subnetIDs[0]=subnet-1", "spec.aws.subnetIDs[1]=subnet-2"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if f := got[3].Field(); f != "spec.aws.subnetIDs" {
		t.Error(f)
	}
}

func TestValuesAreReplacedWhereTheyAre(t *testing.T) {
	values, err := Values([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	got := string(Replace([]byte(sample), values, []string{"new", "10.0.0.9", "us-east-1", "subnet-1", "a: b # c"}))
	for _, want := range []string{
		"# A comment.", "    region: us-east-1 # the region\n", "      - subnet-1\n", "      - \"a: b # c\"\n", "metadata:\n  name: new\n", "    name: new\n", "    vip: 10.0.0.9\n", "    name: creds\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	same := Replace([]byte(sample), values, []string{"old", "10.0.0.1", "eu-central-1", "subnet-1", "subnet-2"})
	if diff := cmp.Diff(sample, string(same)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryExampleIsABeginning(t *testing.T) {
	fields, err := explain.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []v1alpha1.ProviderType{"harvester", "nutanix", "proxmox", "aws", "gcp", "azure"} {
		for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyHA, v1alpha1.TopologySingleNode} {
			data, err := examples.Manifest(p, topology)
			if err != nil {
				t.Fatal(err)
			}
			values, err := Values(data)
			if err != nil || len(values) < 3 {
				t.Fatalf("%s %s: %v, %v", p, topology, values, err)
			}
			texts := make([]string, len(values))
			for i, v := range values {
				if texts[i] = v.Text; v.Path == "spec.cluster.name" {
					texts[i] = "mine"
				}
				if found := fields.Find(v.Kind + "." + v.Field()); len(found) != 1 || found[0].Summary() == "" {
					t.Errorf("%s %s: %s is not explained", p, topology, v.Path)
				}
			}
			m, err := manifest.Parse("x", Replace(data, values, texts))
			if err != nil || m.Cluster.Name != "mine" || m.Cluster.Spec.Cluster.Name != "mine" {
				t.Errorf("%s %s: %v", p, topology, err)
			}
		}
	}
}
