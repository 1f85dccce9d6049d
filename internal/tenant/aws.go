// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

// aws is AWS through cluster-api-provider-aws.
type aws struct {
	Input
	spec v1alpha1.AWSSpec
}

func (aws) names() names {
	return names{version: "v1beta2", cluster: "AWSCluster", template: "AWSMachineTemplate"}
}

func (a aws) warnings() []string {
	if len(a.spec.SubnetIDs) > 1 && (a.override().AWS == nil || a.override().AWS.SubnetID == "") {
		return []string{"all workers are in subnet " + a.spec.SubnetIDs[0] + ", the first of ProviderConfig " + a.Provider.Name}
	}
	return nil
}

func (a aws) cluster() (object, error) {
	if a.spec.VPCID == "" || a.subnet() == "" {
		return nil, ofProvider("spec.aws.vpcID, spec.aws.subnetIDs", "tenant clusters use an existing network; set both")
	}
	network := object{"vpc": object{"id": a.spec.VPCID}, "subnets": a.subnets()}
	if groups := a.spec.SecurityGroupIDs; len(groups) > 0 {
		network["securityGroupOverrides"] = object{"node": groups[0], "controlplane": groups[0], "apiserver-lb": groups[0], "lb": groups[0]}
	}
	kind, name := a.identity()
	return object{
		"region":                   a.spec.Region,
		"controlPlaneLoadBalancer": object{"loadBalancerType": "disabled"},
		"bastion":                  object{"enabled": false},
		"identityRef":              object{"kind": kind, "name": name},
		"network":                  network,
		"additionalTags":           texts(tag.AWS().Write(a.tags())),
	}, nil
}

func (a aws) subnets() []any {
	ids := a.spec.SubnetIDs
	if o := a.override().AWS; o != nil && o.SubnetID != "" {
		ids = []string{o.SubnetID}
	}
	out := make([]any, 0, len(ids))
	for _, id := range ids {
		out = append(out, object{"id": id})
	}
	return out
}

// subnet of the workers.
func (a aws) subnet() string {
	if o := a.override().AWS; o != nil && o.SubnetID != "" {
		return o.SubnetID
	}
	return append(a.spec.SubnetIDs, "")[0]
}

// template is that of a machine. User data goes to the machine as it is: as a script for
// Secrets Manager, which is the default, Talos could not read it.
func (a aws) template() (object, error) {
	o := v1alpha1.AWSOverride{}
	if a.override().AWS != nil {
		o = *a.override().AWS
	}
	image := a.image(o.AMI, a.spec.AMI)
	if image == "" {
		return nil, ofTenant("spec.workers.machineTemplate.os.imageRef", "no image is set; set it to an AMI of Talos, or spec.aws.ami of the ProviderConfig")
	}
	size, err := a.instanceType(awsSizes, o.InstanceType, a.spec.InstanceType)
	if err != nil {
		return nil, err
	}
	out := object{
		"instanceType":            size,
		"ami":                     object{"id": image},
		"subnet":                  object{"id": a.subnet()},
		"publicIP":                a.spec.PublicIP,
		"rootVolume":              object{"size": a.diskGB(), "type": "gp3"},
		"instanceMetadataOptions": object{"httpTokens": "required"},
		"cloudInit":               object{"insecureSkipSecretsManager": true},
		"additionalTags":          texts(tag.AWS().Write(a.tags())),
		"sshKeyName":              "",
	}
	withText(out, "iamInstanceProfile", a.spec.IAMInstanceProfile)
	if groups := a.spec.SecurityGroupIDs; len(groups) > 1 {
		var more []any
		for _, id := range groups[1:] {
			more = append(more, object{"id": id})
		}
		out["additionalSecurityGroups"] = more
	}
	return out, nil
}

// awsBalancer asks the cloud controller manager for a network load balancer: the addresses of a
// classic one change. One address of it has to reach control planes in all zones.
func awsBalancer() object {
	const prefix = "service.beta.kubernetes.io/aws-load-balancer-"
	return object{prefix + "type": "nlb", prefix + "cross-zone-load-balancing-enabled": "true"}
}

// awsSystem is the namespace of the provider, in which it looks for credentials.
const awsSystem = "capa-system"

// outsideName is the name of what is not in the tenant namespace.
func outsideName(namespace string) string { return "butler-" + namespace }

func (a aws) text(key string) string { return string(a.Credentials[key]) }

// identity is the kind and name of the one that the cluster uses. Without credentials it is
// that of the provider's own pods.
func (a aws) identity() (kind, name string) {
	switch {
	case a.text(v1alpha1.KeyRoleARN) != "":
		return "AWSClusterRoleIdentity", outsideName(a.Namespace)
	case a.text(v1alpha1.KeyAccessKeyID) != "":
		return "AWSClusterStaticIdentity", outsideName(a.Namespace)
	}
	return "AWSClusterControllerIdentity", "default"
}

func (a aws) credentials() ([]*unstructured.Unstructured, error) {
	key, secret, role := a.text(v1alpha1.KeyAccessKeyID), a.text(v1alpha1.KeySecretAccessKey), a.text(v1alpha1.KeyRoleARN)
	switch {
	case a.text(v1alpha1.KeyWebIdentityToken) != "":
		return nil, ofSecret(v1alpha1.KeyWebIdentityToken, "cluster-api-provider-aws takes no such token; use an access key, or the identity of its pods")
	case (key == "") != (secret == ""):
		return nil, ofSecret(v1alpha1.KeyAccessKeyID+", "+v1alpha1.KeySecretAccessKey, "both are needed")
	case key == "" && role == "" && a.Provider.Spec.CredentialsRef != nil:
		return nil, ofSecret(v1alpha1.KeyAccessKeyID, "the Secret has neither an access key nor a role; put one there")
	}
	var out []*unstructured.Unstructured
	source, sourceName := "AWSClusterControllerIdentity", "default"
	if key != "" {
		source, sourceName = "AWSClusterStaticIdentity", outsideName(a.Namespace)
		out = append(out, a.keys(key, secret), a.identityObject(source, object{"secretRef": sourceName}))
	}
	if role == "" {
		return out, nil
	}
	spec := object{"roleARN": role, "sessionName": "butler", "sourceIdentityRef": object{"kind": source, "name": sourceName}}
	withText(spec, "externalID", a.text(v1alpha1.KeyExternalID))
	return append(out, a.identityObject("AWSClusterRoleIdentity", spec)), nil
}

// keys is the Secret with the access key.
func (a aws) keys(key, secret string) *unstructured.Unstructured {
	data := map[string]string{"AccessKeyID": key, "SecretAccessKey": secret}
	if token := a.text(v1alpha1.KeySessionToken); token != "" {
		data["SessionToken"] = token
	}
	u := a.secret(outsideName(a.Namespace), data)
	u.SetNamespace(awsSystem)
	return u
}

// identityObject allows the tenant namespace, and no other.
func (a aws) identityObject(kind string, spec object) *unstructured.Unstructured {
	spec["allowedNamespaces"] = object{"list": []any{a.Namespace}}
	u := a.new(infrastructureGroup+"/v1beta2", kind, outsideName(a.Namespace), spec)
	u.SetNamespace("")
	return u
}

// Outside returns the objects of a tenant cluster that are not in the tenant namespace, without
// their content: whichever of them exist are deleted by name, after the Cluster.
func Outside(namespace string) []*unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Secret"}}
	secret.SetNamespace(awsSystem)
	out := []*unstructured.Unstructured{secret}
	for _, kind := range []string{"AWSClusterRoleIdentity", "AWSClusterStaticIdentity"} {
		out = append(out, &unstructured.Unstructured{Object: object{"apiVersion": infrastructureGroup + "/v1beta2", "kind": kind}})
	}
	for _, u := range out {
		u.SetName(outsideName(namespace))
	}
	return out
}
