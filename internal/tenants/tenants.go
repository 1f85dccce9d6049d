// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenants reads, creates and follows the tenant clusters of a management cluster, for
// commands.
package tenants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
)

const (
	// owner is the name under which the fields of a manifest are owned.
	owner = "butleradm"
	// pollInterval is how often a cluster is looked at while a command waits for it.
	pollInterval = 300 * time.Millisecond
)

// List returns all tenant clusters, by namespace and name. A management cluster that does not
// know the kind has none.
func List(ctx context.Context, c client.Client) ([]v1alpha1.TenantCluster, error) {
	var all v1alpha1.TenantClusterList
	err := c.List(ctx, &all)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list TenantClusters: %w", err)
	}
	slices.SortFunc(all.Items, func(a, b v1alpha1.TenantCluster) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return all.Items, nil
}

// Find returns the tenant cluster of a name, or of a namespace/name.
func Find(ctx context.Context, c client.Client, name string) (*v1alpha1.TenantCluster, error) {
	all, err := List(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []v1alpha1.TenantCluster
	for _, tc := range all {
		if tc.Name == name || tc.Namespace+"/"+tc.Name == name {
			found = append(found, tc)
		}
	}
	switch len(found) {
	case 0:
		return nil, failure.Usagef("there is no tenant cluster %q; see butleradm tenant list", name)
	case 1:
		return &found[0], nil
	}
	return nil, failure.Usagef("%d tenant clusters are named %q; name one as NAMESPACE/NAME", len(found), name)
}

// Load reads the one TenantCluster of a manifest. Fields that it does not have are refused.
func Load(path string) (*v1alpha1.TenantCluster, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.Usagef("read the manifest: %w", err)
	}
	tc := &v1alpha1.TenantCluster{}
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(data, &kind); err != nil {
		return nil, failure.Usagef("%s is no manifest of a TenantCluster: an object with apiVersion and kind is expected", path)
	}
	if why := unserved(kind.GroupVersionKind()); why != "" {
		return nil, failure.Usagef("%s: %s", path, why)
	}
	if err := yaml.UnmarshalStrict(data, tc); err != nil {
		return nil, failure.Usagef("%s: %s; butleradm explain TenantCluster describes its fields", path, strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: json: "))
	}
	want := v1alpha1.GroupVersion().WithKind("TenantCluster")
	if tc.GroupVersionKind() != want {
		return nil, failure.Usagef("%s has a %s of %s, not a %s of %s", path, tc.Kind, tc.APIVersion, want.Kind, want.GroupVersion())
	}
	if tc.Name == "" {
		return nil, failure.Usagef("%s: metadata.name is required", path)
	}
	return tc, nil
}

// unserved says what to do instead of a kind of the public API that is not served; empty for
// other kinds. The API server does not know these kinds at all.
func unserved(kind schema.GroupVersionKind) string {
	instead := map[string]string{
		"TenantAddon": "set spec.addons of the TenantCluster, or install it with the kubeconfig of the tenant", "AddonDefinition": "set spec.addons of the TenantCluster",
		"ImageSync":             "upload the image to the platform, and name it in spec.workers.machineTemplate.os.imageRef",
		"ClusterCreationPolicy": "set resourceLimits of the Team", "Workspace": "create it in the tenant cluster", "WorkspaceTemplate": "create it in the tenant cluster",
	}[kind.Kind]
	if kind.Group != v1alpha1.Group || instead == "" {
		return ""
	}
	return kind.Kind + " is not served; " + instead
}

// Apply creates a tenant cluster, or changes one to what its manifest says. Without a
// namespace it is in that of tenant clusters without a team, which is created if need be.
func Apply(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster) (*v1alpha1.TenantCluster, error) {
	tc = tc.DeepCopy()
	if err := settleNamespace(ctx, c, tc); err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tc)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: fields}), client.FieldOwner(owner), client.ForceOwnership)
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return nil, refused(tc, err)
	case err != nil:
		return nil, fmt.Errorf("apply tenant cluster %s: %w", tc.Name, err)
	}
	now := &v1alpha1.TenantCluster{}
	return now, c.Get(ctx, client.ObjectKeyFromObject(tc), now)
}

// settleNamespace completes the namespace of a tenant cluster. That of clusters without a team
// is created if it is missing.
func settleNamespace(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster) error {
	config := &v1alpha1.ButlerConfig{}
	err := c.Get(ctx, client.ObjectKey{Name: v1alpha1.ButlerConfigName}, config)
	if apierrors.IsNotFound(err) {
		config, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("read the ButlerConfig: %w", err)
	}
	name := config.TenantsNamespace()
	if tc.Namespace == "" {
		tc.Namespace = name
	}
	if tc.Namespace != name {
		return nil
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// errGone is the end of a cluster that is followed.
var errGone = errors.New("it was deleted")

// Await follows a tenant cluster until it is Ready with its present spec. show gets every
// state that differs.
func Await(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, show func(*v1alpha1.TenantCluster)) error {
	for {
		now, err := read(ctx, c, tc, show)
		switch {
		case errors.Is(err, errGone):
			return fmt.Errorf("tenant cluster %s: %w in the meantime", tc.Name, err)
		case err != nil && ctx.Err() != nil:
			return err
		case err == nil && now.Status.ObservedGeneration >= tc.Generation && now.Status.Phase == v1alpha1.TenantFailed:
			return fmt.Errorf("tenant cluster %s failed: %s", tc.Name, Obstacle(now))
		case err == nil && IsReady(now, tc.Generation):
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// IsReady reports whether a tenant cluster is Ready with a generation of its spec.
func IsReady(tc *v1alpha1.TenantCluster, generation int64) bool {
	return tc.Status.ObservedGeneration >= generation && tc.Status.Phase == v1alpha1.TenantReady &&
		meta.IsStatusConditionTrue(tc.Status.Conditions, v1alpha1.ConditionReady)
}

// Delete deletes a tenant cluster and waits until it is gone, with everything that was created
// for it.
func Delete(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, show func(*v1alpha1.TenantCluster)) error {
	if err := c.Delete(ctx, tc, client.Preconditions{UID: &tc.UID}); err != nil {
		return client.IgnoreNotFound(err)
	}
	for {
		if _, err := read(ctx, c, tc, show); errors.Is(err, errGone) {
			return nil
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("tenant cluster %s is being deleted: %w", tc.Name, err)
		}
	}
}

// read shows the present state of a cluster. An API server that does not answer is asked
// again by the caller.
func read(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, show func(*v1alpha1.TenantCluster)) (*v1alpha1.TenantCluster, error) {
	now := &v1alpha1.TenantCluster{}
	err := c.Get(ctx, client.ObjectKeyFromObject(tc), now)
	if apierrors.IsNotFound(err) || err == nil && now.UID != tc.UID {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	show(now)
	return now, nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pollInterval):
		return nil
	}
}

// Obstacle returns what a tenant cluster waits for; empty if it is Ready.
func Obstacle(tc *v1alpha1.TenantCluster) string {
	c := meta.FindStatusCondition(tc.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Message
}

// Left returns what a tenant cluster that is being deleted leaves on the platform; empty if nothing
// is known of that.
func Left(tc *v1alpha1.TenantCluster) string {
	if c := meta.FindStatusCondition(tc.Status.Conditions, v1alpha1.ConditionLeftOnPlatform); c != nil {
		return c.Message
	}
	return ""
}

// Credential reads a key of one of the Secrets that a tenant cluster has in its namespace.
func Credential(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, secret, key string) ([]byte, error) {
	found := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: secret}, found)
	if tc.Status.TenantNamespace == "" || apierrors.IsNotFound(err) || err == nil && len(found.Data[key]) == 0 {
		return nil, fmt.Errorf("tenant cluster %s has no %s yet: %s", tc.Name, strings.TrimPrefix(secret, tc.Name+"-"), Obstacle(tc))
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s of tenant cluster %s: %w", secret, tc.Name, err)
	}
	return found.Data[key], nil
}

// Change writes a changed spec.
func Change(ctx context.Context, c client.Client, before, after *v1alpha1.TenantCluster) error {
	err := c.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner))
	if apierrors.IsInvalid(err) {
		return refused(after, err)
	}
	return err
}

// refused is an error of the user's, in the words of the rules that refuse a tenant cluster.
func refused(tc *v1alpha1.TenantCluster, err error) error {
	var all []string
	for _, r := range failure.Refusals(err) {
		all = append(all, r.String())
	}
	if len(all) > 0 {
		err = errors.New(strings.Join(all, "; "))
	}
	return failure.New(failure.Usage, fmt.Errorf("tenant cluster %s: %w", tc.Name, err))
}
