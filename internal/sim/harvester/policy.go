// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	policyName = "virtualmachine-validator"
	// inlineLimit is how many bytes KubeVirt takes as inline user or network data.
	inlineLimit = 2048
)

// installPolicy makes the API server refuse what the platform's webhooks refuse.
func installPolicy(ctx context.Context, c client.Client) error {
	fail := admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{machineWrites()}},
			Variables:        policyVariables(),
			Validations:      policyRules(),
		},
	}
	if err := put(ctx, c, policy); err != nil {
		return err
	}
	return put(ctx, c, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policyName,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	})
}

func machineWrites() admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule: admissionv1.Rule{
			APIGroups: []string{kubevirtv1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"virtualmachines"},
		},
	}}
}

func policyVariables() []admissionv1.Variable {
	return []admissionv1.Variable{
		{Name: "spec", Expression: `object.spec.template.spec`},
		{Name: "domain", Expression: `variables.spec.domain`},
		{Name: "volumes", Expression: `has(variables.spec.volumes) ? variables.spec.volumes : []`},
		{Name: "networks", Expression: `has(variables.spec.networks) ? variables.spec.networks : []`},
		{Name: "disks", Expression: `has(variables.domain.devices.disks) ? variables.domain.devices.disks : []`},
		{Name: "filesystems", Expression: `has(variables.domain.devices.filesystems) ? variables.domain.devices.filesystems : []`},
		{Name: "interfaces", Expression: `has(variables.domain.devices.interfaces) ? variables.domain.devices.interfaces : []`},
		{Name: "inits", Expression: `variables.volumes.filter(v, has(v.cloudInitNoCloud)).map(v, v.cloudInitNoCloud) + ` +
			`variables.volumes.filter(v, has(v.cloudInitConfigDrive)).map(v, v.cloudInitConfigDrive)`},
	}
}

func policyRules() []admissionv1.Validation {
	return []admissionv1.Validation{
		rule(`variables.inits.all(c, `+shortEnough("userData")+`)`,
			fmt.Sprintf("inline user data is limited to %d bytes; put it into a Secret and name that in secretRef", inlineLimit)),
		rule(`variables.inits.all(c, `+shortEnough("networkData")+`)`,
			fmt.Sprintf("inline network data is limited to %d bytes; put it into a Secret and name that in networkDataSecretRef", inlineLimit)),
		rule(`variables.inits.all(c, `+validBase64("userDataBase64")+` && `+validBase64("networkDataBase64")+`)`,
			"inline data in a field that ends with Base64 must be base64"),
		rule(`variables.inits.all(c, `+sources("secretRef", "userDataBase64", "userData")+` <= 1)`,
			"a cloud-init volume takes one source of user data"),
		rule(`variables.inits.all(c, `+sources("networkDataSecretRef", "networkDataBase64", "networkData")+` <= 1)`,
			"a cloud-init volume takes one source of network data"),
		rule(`variables.inits.all(c, `+sources("secretRef", "userDataBase64", "userData", "networkDataSecretRef", "networkDataBase64", "networkData")+` > 0)`,
			"a cloud-init volume needs user data or network data"),
		rule(`has(variables.domain.memory) && has(variables.domain.memory.guest) || has(variables.domain.resources) && `+
			`has(variables.domain.resources.limits) && 'memory' in variables.domain.resources.limits`,
			"spec.template.spec.domain needs memory.guest or resources.limits.memory"),
		rule(`has(object.spec.running) != has(object.spec.runStrategy)`,
			"spec needs runStrategy, or the deprecated running, and not both"),
		rule(`!has(object.spec.runStrategy) || object.spec.runStrategy in ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once']`,
			"spec.runStrategy is not one that this platform knows"),
		rule(`variables.disks.all(d, variables.volumes.exists(v, v.name == d.name))`,
			"each disk needs a volume of the same name"),
		rule(`variables.volumes.all(v, variables.disks.exists(d, d.name == v.name) || variables.filesystems.exists(f, f.name == v.name))`,
			"each volume needs a disk or filesystem of the same name"),
		rule(`variables.interfaces.all(i, variables.networks.exists(n, n.name == i.name)) && `+
			`variables.networks.all(n, variables.interfaces.exists(i, i.name == n.name))`,
			"each interface needs a network of the same name, and each network an interface"),
	}
}

func rule(expression, message string) admissionv1.Validation {
	invalid := metav1.StatusReasonInvalid
	return admissionv1.Validation{Expression: expression, Message: message, Reason: &invalid}
}

// shortEnough limits an inline field of c, and its base64 form by what it decodes to.
func shortEnough(field string) string {
	return strings.NewReplacer("F", field, "N", fmt.Sprint(inlineLimit)).Replace(
		`(!has(c.F) || size(bytes(c.F)) <= N) && (!has(c.FBase64) || size(c.FBase64) * 3 / 4 - ` +
			`(c.FBase64.endsWith('==') ? 2 : c.FBase64.endsWith('=') ? 1 : 0) <= N)`)
}

func validBase64(field string) string {
	return `(!has(c.` + field + `) || c.` + field + `.matches('^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'))`
}

func sources(fields ...string) string {
	var counts []string
	for _, f := range fields {
		counts = append(counts, "(has(c."+f+") ? 1 : 0)")
	}
	return "(" + strings.Join(counts, " + ") + ")"
}

// awaitPolicy waits until the policy is in force: until then it would let pass what
// the platform never does.
func awaitPolicy(ctx context.Context, c client.Client) error {
	halted := kubevirtv1.RunStrategyHalted
	return await(ctx, "admission policy", func() (bool, error) {
		err := c.Create(ctx, &kubevirtv1.VirtualMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: policyName},
			Spec:       kubevirtv1.VirtualMachineSpec{RunStrategy: &halted, Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{}},
		}, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), policyName), nil
	})
}
