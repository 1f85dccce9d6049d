// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// team creates a Ready team with its namespace, in mode Optional.
func (f *fixture) team(limits v1alpha1.TeamResourceLimits) *v1alpha1.Team {
	f.Helper()
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	config.Spec.MultiTenancy = &v1alpha1.MultiTenancySpec{Mode: v1alpha1.TenancyOptional}
	f.Must(f.Create(f.Context(), config))
	f.Cleanup(func() { f.Must(client.IgnoreNotFound(f.Delete(context.Background(), config))) })
	t := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	t.Spec.ResourceLimits = &limits
	t.Spec.Access.Users = []v1alpha1.TeamUser{{Name: "olga", Role: v1alpha1.TeamOperator}, {Name: "vera", Role: v1alpha1.TeamViewer}}
	f.Must(f.Create(f.Context(), t))
	t.Status.Phase, t.Status.Namespace = v1alpha1.TeamReady, t.Name
	f.Must(f.Status().Update(f.Context(), t))
	return t
}

// inTeam is a cluster of the team.
func (f *fixture) inTeam(name string) *v1alpha1.TenantCluster {
	tc := f.tenant()
	tc.Namespace, tc.Name = f.Namespace, f.Namespace+"-"+name
	tc.Spec.TeamRef = &v1alpha1.LocalReference{Name: f.Namespace}
	return tc
}

func TestTwoClustersCannotBothGetTheLastShare(t *testing.T) {
	f := newFixture(t)
	team := f.team(v1alpha1.TeamResourceLimits{MaxClusters: new(int32(1))})
	one, two := f.inTeam("one"), f.inTeam("two")
	f.Must(f.Create(t.Context(), one))
	f.Must(f.Create(t.Context(), two))
	counts := map[string]int{}
	for _, tc := range []*v1alpha1.TenantCluster{one, two} {
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) || condition(tc, v1alpha1.ConditionQuotaSatisfied).Reason == "QuotaExceeded"
		})
		counts[string(condition(now, v1alpha1.ConditionQuotaSatisfied).Status)]++
	}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
	if counts["True"] != 1 || len(team.Status.Reservations) != 1 {
		t.Errorf("%v, %d reservations", counts, len(team.Status.Reservations))
	}
	t.Run("lowered limits block neither what runs nor its deletion", func(t *testing.T) {
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
		team.Spec.ResourceLimits.MaxClusters = new(int32(0))
		f.Must(f.Update(t.Context(), team))
		holder := one
		if team.Status.Reservations[0].UID == string(two.UID) {
			holder = two
		}
		f.until(holder, isReady)
		f.gone(holder)
	})
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
	if len(team.Status.Reservations) != 0 {
		t.Errorf("a deleted cluster keeps its share: %+v", team.Status.Reservations)
	}
}

// as is a client of a member of the team.
func (f *fixture) as(user string) client.Client {
	f.Helper()
	config := rest.CopyConfig(api)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: f.Scheme()})
	f.Must(err)
	return c
}

func TestMembersOfATeamReadTheKubeconfigAndNoOtherSecret(t *testing.T) {
	f := newFixture(t)
	team := f.team(v1alpha1.TeamResourceLimits{MaxMemory: new(resource.MustParse("8Gi"))})
	tc := f.ready(f.inTeam("one"))
	data := text(f.deployment(tc), "spec", "template", "spec", "bootstrap", "dataSecretName")
	for user, may := range map[string][]string{"olga": {kubeconfigOf(tc.Name), talosconfigOf(tc.Name)}, "vera": nil, "outsider": nil} {
		member := f.as(user)
		for _, secret := range []string{kubeconfigOf(tc.Name), talosconfigOf(tc.Name), authorityOf(tc.Name), trustdOf(tc.Name), tc.Name + "-credentials", tokenOf(tc.Name), data} {
			err := member.Get(t.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: secret}, &corev1.Secret{})
			if want := slices.Contains(may, secret); want != (err == nil) || !want && !apierrors.IsForbidden(err) {
				t.Errorf("%s reads %s: %v", user, secret, err)
			}
		}
		if err := member.List(t.Context(), &corev1.SecretList{}, client.InNamespace(tc.Status.TenantNamespace)); !apierrors.IsForbidden(err) {
			t.Errorf("%s lists Secrets: %v", user, err)
		}
	}
	t.Run("growth beyond a limit is refused, and everything else continues", func(t *testing.T) { f.growthIsRefused(tc, data) })
	t.Run("with a higher limit it grows", func(t *testing.T) {
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(team), team))
		team.Spec.ResourceLimits.MaxMemory = new(resource.MustParse("12Gi"))
		f.Must(f.Update(t.Context(), team))
		f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isReady(tc) && tc.Status.WorkerNodesReady == 3 })
	})
	t.Run("so is a version, an addon and a platform that are not allowed any more", func(t *testing.T) { f.changeIsRefused(tc, team) })
	f.volumesAreReported(tc)
	var left corev1.SecretList
	f.Must(f.List(t.Context(), &left, client.InNamespace(tc.Status.TenantNamespace)))
	if len(left.Items) > 0 {
		t.Errorf("%d Secrets are left", len(left.Items))
	}
}

// growthIsRefused changes number of workers and control plane at once, and removes what
// workers join with.
func (f *fixture) growthIsRefused(tc *v1alpha1.TenantCluster, data string) {
	f.Helper()
	token := f.kept(tc, tokenOf(tc.Name))
	for _, key := range []client.ObjectKey{
		{Namespace: kubeSystem, Name: tokenPrefix + string(token.Data["token-id"])},
		{Namespace: tc.Status.TenantNamespace, Name: tc.Name + "-credentials"}, {Namespace: tc.Status.TenantNamespace, Name: data},
	} {
		f.Must(f.Delete(f.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}))
	}
	before := f.machineNames()
	f.change(tc, func(tc *v1alpha1.TenantCluster) {
		tc.Spec.Workers.Replicas, tc.Spec.ControlPlane.CertSANs = 3, []string{"api.example.com"}
	})
	now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionQuotaSatisfied).Message, "maxMemory is 8Gi, and this would be 12Gi") && isTrue(tc, v1alpha1.ConditionAddonsReady)
	})
	if n := number(f.deployment(now), "spec", "replicas"); n != 2 || now.Status.WorkerNodesDesired != 2 || now.Status.Phase != v1alpha1.TenantReady || readyCondition(now).Reason != "QuotaExceeded" {
		f.Errorf("%d replicas, %d desired, phase %s, %s", n, now.Status.WorkerNodesDesired, now.Status.Phase, readyCondition(now).Reason)
	}
	f.kept(tc, tc.Name+"-credentials")
	if again := f.kept(tc, tokenOf(tc.Name)); !strings.Contains(string(f.kept(tc, data).Data["value"]), string(again.Data["token-secret"])) || string(again.Data["token-id"]) == string(token.Data["token-id"]) {
		f.Error("the token of the workers is not renewed")
	}
	sans, _, _ := unstructured.NestedStringSlice(f.player.get(f.Context(), controlPlaneKind, f.deploymentCluster(tc)).Object, "spec", "addons", "workerBootstrap", "talos", "certSANs")
	if !slices.Equal(sans, []string{"api.example.com"}) {
		f.Errorf("the control plane has %v", sans)
	}
	if after := f.machineNames(); !slices.Equal(before, after) {
		f.Errorf("machines %v became %v", before, after)
	}
}

// deploymentCluster names the control plane of a tenant.
func (f *fixture) deploymentCluster(tc *v1alpha1.TenantCluster) client.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tc.Status.TenantNamespace, Name: tc.Name}}
}

func (f *fixture) machineNames() (out []string) {
	for _, m := range f.player.all(f.Context(), machineKind) {
		out = append(out, m.GetName())
	}
	slices.Sort(out)
	return out
}

// changeIsRefused asks for what the team may not have any more.
func (f *fixture) changeIsRefused(tc *v1alpha1.TenantCluster, team *v1alpha1.Team) {
	f.Helper()
	f.Must(f.Get(f.Context(), client.ObjectKeyFromObject(team), team))
	l := team.Spec.ResourceLimits
	l.AllowedKubernetesVersions, l.DeniedAddons, l.AllowedProviders = []string{"v1.30"}, []string{"cert-manager"}, []string{"another"}
	f.Must(f.Update(f.Context(), team))
	f.change(tc, func(tc *v1alpha1.TenantCluster) {
		tc.Spec.KubernetesVersion, tc.Spec.Addons.CertManager.Enabled, tc.Spec.Workers.Replicas = "v1.31.1", new(true), 2
	})
	now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		c := condition(tc, v1alpha1.ConditionQuotaSatisfied)
		return c.Reason == "NotAllowed" && strings.Contains(c.Message, "v1.31.1 is not among allowedKubernetesVersions (v1.30); addon cert-manager is among deniedAddons") &&
			tc.Status.WorkerNodesDesired == 2 && tc.Status.WorkerNodesReady == 2 && isTrue(tc, v1alpha1.ConditionAddonsReady)
	})
	if c := condition(now, v1alpha1.ConditionProviderAccessGranted); !strings.Contains(c.Message, "is not among the allowedProviders of team") || now.Status.ObservedState.KubernetesVersion != "v1.31.0" {
		f.Errorf("%s: %v", now.Status.ObservedState.KubernetesVersion, c)
	}
	f.change(tc, func(tc *v1alpha1.TenantCluster) {
		tc.Spec.KubernetesVersion, tc.Spec.Addons.CertManager.Enabled = "v1.31.0", new(false)
	})
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) })
}

// volumesAreReported deletes a cluster with a volume on the platform.
func (f *fixture) volumesAreReported(tc *v1alpha1.TenantCluster) {
	f.Helper()
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	volume.Spec = corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "disk-1"}},
	}
	f.Must(f.Create(f.Context(), volume))
	f.player.set(func(p *player) { p.held = true })
	f.Must(f.Delete(f.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionLeftOnPlatform).Message, f.Namespace+" (csi.example.com disk-1)")
	})
	f.player.set(func(p *player) { p.held = false })
	f.Gone(tc)
	f.Must(f.Delete(f.Context(), volume))
	f.Await(func() error {
		var events corev1.EventList
		f.Must(f.List(f.Context(), &events, client.InNamespace(tc.Namespace)))
		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.Reason == "LeftOnPlatform" && strings.Contains(e.Message, "disk-1")
		}) {
			return fmt.Errorf("no event among %d", len(events.Items))
		}
		return nil
	})
}

// TestATeamIsRefusedWithTheReason has a row for each rule of teams, before anything is created.
func TestATeamIsRefusedWithTheReason(t *testing.T) {
	f := newFixture(t)
	f.team(v1alpha1.TeamResourceLimits{
		MaxNodesPerCluster: new(int32(4)), MaxTotalNodes: new(int32(5)), MaxCPUCores: new(resource.MustParse("8")), MaxMemory: new(resource.MustParse("16Gi")), MaxStorage: new(resource.MustParse("160Gi")),
		AllowedKubernetesVersions: []string{"v1.31"}, AllowedProviders: []string{f.Namespace, "scoped"}, AllowedAddons: []string{"longhorn"}, DeniedAddons: []string{"flux"},
	})
	scoped := &v1alpha1.ProviderConfig{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, scoped))
	scoped = &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: "scoped"}, Spec: scoped.Spec}
	scoped.Spec.Scope = &v1alpha1.ProviderScope{Type: v1alpha1.ScopeTeam, TeamRef: &v1alpha1.LocalReference{Name: "another"}}
	f.Must(f.Create(t.Context(), scoped))
	limited := scoped.DeepCopy()
	limited.ObjectMeta = metav1.ObjectMeta{Namespace: platformNamespace, Name: "limited"}
	f.Must(f.Create(t.Context(), limited))
	t.Cleanup(func() {
		f.Must(errors.Join(f.Delete(context.Background(), scoped), f.Delete(context.Background(), limited)))
	})
	const access, quota = v1alpha1.ConditionProviderAccessGranted, v1alpha1.ConditionQuotaSatisfied
	for name, tc := range map[string]struct {
		change          func(*v1alpha1.TenantCluster)
		condition, says string
	}{
		"version": {func(tc *v1alpha1.TenantCluster) { tc.Spec.KubernetesVersion = "v1.32.0" }, quota, "Kubernetes v1.32.0 is not among allowedKubernetesVersions (v1.31)"},
		"denied":  {func(tc *v1alpha1.TenantCluster) { tc.Spec.Addons.GitOps = &v1alpha1.TenantGitOpsSpec{} }, quota, "addon flux is among deniedAddons"},
		"not-allowed": {func(tc *v1alpha1.TenantCluster) {
			tc.Spec.Addons.Ingress = &v1alpha1.TenantIngressSpec{Provider: "nginx"}
		}, quota, "addon ingress-nginx is not among allowedAddons (longhorn)"},
		"platform": {func(tc *v1alpha1.TenantCluster) { tc.Spec.ProviderConfigRef.Name = "limited" }, access, "is for team another only"},
		"scope":    {func(tc *v1alpha1.TenantCluster) { tc.Spec.ProviderConfigRef.Name = "scoped" }, access, "butler-system/scoped of spec.providerConfigRef is for team another only"},
		"nodes":    {func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 5 }, quota, "maxNodesPerCluster is 4, and this would be 5"},
		"bounds": {func(tc *v1alpha1.TenantCluster) {
			tc.Spec.Workers.MinReplicas, tc.Spec.Workers.MaxReplicas = 1, 6
		}, quota, "maxNodesPerCluster is 4, and this would be 6"},
		"cpu": {func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.MachineTemplate.CPU = 5 }, quota, "maxCPUCores is 8, and this would be 10"},
		"storage": {func(tc *v1alpha1.TenantCluster) {
			tc.Spec.Workers.MachineTemplate.DiskSize = resource.MustParse("100Gi")
		}, quota, "maxStorage is 160Gi, and this would be 200Gi"},
		"elsewhere": {func(tc *v1alpha1.TenantCluster) { tc.Namespace = v1alpha1.DefaultTenantsNamespace }, access, "are created in namespace " + f.Namespace},
		"no-team":   {func(tc *v1alpha1.TenantCluster) { tc.Spec.TeamRef = nil }, access, "tenant clusters without a team are created in namespace butler-tenants"},
	} {
		t.Run(name, func(t *testing.T) {
			blocked := f.inTeam(name)
			tc.change(blocked)
			f.expectRefused(t, blocked, tc.condition, tc.says, v1alpha1.TenantPending)
		})
	}
}

// TestMachineRequestsCountAgainstTheLimitOfAPlatform has a cluster that would fit if its team had
// no other machine.
func TestMachineRequestsCountAgainstTheLimitOfAPlatform(t *testing.T) {
	f := newFixture(t)
	f.player.set(func(p *player) { p.noControlPlane = true })
	provider := &v1alpha1.ProviderConfig{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, provider))
	provider.Spec.Limits = &v1alpha1.ProviderLimits{MaxNodesPerTeam: new(int32(2))}
	f.Must(f.Update(t.Context(), provider))
	m := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "other"}}
	m.Spec.ProviderRef = v1alpha1.ProviderReference{Name: f.Namespace, Namespace: platformNamespace}
	m.Spec.MachineName, m.Spec.Role, m.Spec.CPU, m.Spec.MemoryMB, m.Spec.DiskGB = "other", v1alpha1.RoleWorker, 2, 4096, 40
	f.Must(f.Create(t.Context(), m))
	m.Annotations = map[string]string{v1alpha1.AnnotationClaimedBy: string(m.UID)}
	f.Must(f.Update(t.Context(), m))
	tc := f.tenant()
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionQuotaSatisfied).Message, "maxNodesPerTeam of ProviderConfig "+f.Namespace+" is 2, and this would be 3")
	})
	f.Must(f.Delete(t.Context(), m))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) })
	f.gone(tc)
}

// TestLimitsOfAPlatformCountClustersWithoutATeam has one cluster more than the ProviderConfig
// allows, and one that grows.
func TestLimitsOfAPlatformCountClustersWithoutATeam(t *testing.T) {
	f := newFixture(t)
	f.player.set(func(p *player) { p.noControlPlane = true })
	provider := &v1alpha1.ProviderConfig{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, provider))
	provider.Spec.Limits = &v1alpha1.ProviderLimits{MaxClustersPerTeam: new(int32(1)), MaxNodesPerTeam: new(int32(2))}
	f.Must(f.Update(t.Context(), provider))
	one, two := f.tenant(), f.tenant()
	two.Name += "-two"
	f.Must(errors.Join(f.Create(t.Context(), one), f.Create(t.Context(), two)))
	var holder, other *v1alpha1.TenantCluster
	for _, tc := range []*v1alpha1.TenantCluster{one, two} {
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) || condition(tc, v1alpha1.ConditionQuotaSatisfied).Reason == "QuotaExceeded"
		})
		if isTrue(now, v1alpha1.ConditionQuotaSatisfied) {
			holder = now
		} else {
			other = now
		}
	}
	if holder == nil || other == nil || !strings.Contains(condition(other, v1alpha1.ConditionQuotaSatisfied).Message, "maxClustersPerTeam of ProviderConfig "+f.Namespace+" is 1, and this would be 2") {
		t.Fatal("not exactly one cluster has the last share")
	}
	f.until(holder, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.TenantNamespace != "" })
	f.change(holder, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
	for i := range 2 { // a second look does not grant what the first refused
		f.change(holder, func(tc *v1alpha1.TenantCluster) {
			tc.Spec.ControlPlane.CertSANs = append(tc.Spec.ControlPlane.CertSANs, fmt.Sprintf("api-%d.example.com", i))
		})
		now := f.until(holder, func(tc *v1alpha1.TenantCluster) bool {
			return tc.Status.ObservedGeneration == tc.Generation && condition(tc, v1alpha1.ConditionQuotaSatisfied).Reason == "QuotaExceeded"
		})
		if now.Status.Reservation.Nodes != 2 || now.Status.WorkerNodesDesired != 2 {
			t.Errorf("%d nodes are reserved, %d desired", now.Status.Reservation.Nodes, now.Status.WorkerNodesDesired)
		}
	}
	f.gone(holder)
	f.until(other, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionQuotaSatisfied) })
	f.gone(other)
}

// TestFieldsOfAProviderConfigWithoutEffectAreNamed has a storage container, which workers on
// Nutanix do not get.
func TestFieldsOfAProviderConfigWithoutEffectAreNamed(t *testing.T) {
	f := newFixture(t)
	secret := &corev1.Secret{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, secret))
	secret.Data[v1alpha1.KeyUsername], secret.Data[v1alpha1.KeyPassword] = []byte("user"), []byte("password")
	f.Must(f.Update(t.Context(), secret))
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: f.Namespace + "-nutanix"}}
	config.Spec.Provider, config.Spec.CredentialsRef = v1alpha1.ProviderNutanix, &v1alpha1.SecretReference{Name: secret.Name}
	const id = "00000000-0000-0000-0000-000000000001"
	config.Spec.Nutanix = &v1alpha1.NutanixSpec{Endpoint: "https://prism.example.com", ClusterUUID: id, SubnetUUID: id, ImageUUID: id, StorageContainerUUID: id}
	f.Must(f.Create(t.Context(), config))
	tc := f.tenant()
	tc.Spec.ProviderConfigRef.Name = config.Name
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionFieldsWithoutEffect).Message, "the storage container of ProviderConfig "+config.Name+" does not apply to workers")
	})
	f.gone(tc)
}
