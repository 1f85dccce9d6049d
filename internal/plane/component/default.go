// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"k8s.io/klog/v2"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

const (
	// defaultsHook is also the name of a check of /readyz.
	defaultsHook = "butler-defaults"
	// defaultsAtOnce is how many of them are created at the same time.
	defaultsAtOnce = 8
	defaultsWithin = 30 * time.Second
)

// createDefaultsAtOnce has the API server create the default roles and priority classes as soon as
// it serves, side by side. Its own hooks wait for a second first, and then take one after the other.
func createDefaultsAtOnce(c *apiserver.Config) error {
	generic := c.KubeAPIs.ControlPlane.Generic
	generic.DisabledPostStartHooks.Insert(rbacrest.PostStartHookName, schedulingrest.PostStartHookName)
	return generic.AddPostStartHook(defaultsHook, func(hook server.PostStartHookContext) error {
		api, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
		if err != nil {
			return err
		}
		return wait.PollUntilContextTimeout(hook.Context, 100*time.Millisecond, defaultsWithin, true, func(ctx context.Context) (bool, error) {
			err := createDefaults(ctx, api)
			if err != nil {
				klog.ErrorS(err, "Default roles and priority classes are not complete")
			}
			return err == nil, nil
		})
	})
}

func createDefaults(ctx context.Context, api kubernetes.Interface) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultsAtOnce)
	for _, one := range append(defaultRoles(api), defaultClasses(api)...) {
		group.Go(func() error { return one.ensure(ctx) })
	}
	return group.Wait()
}

// object is one that a new API server has. Reconcile adds what an existing one lacks.
type object struct {
	name      string
	create    func(context.Context) error
	reconcile func() error
}

func (o object) ensure(ctx context.Context) error {
	err := o.create(ctx)
	if apierrors.IsAlreadyExists(err) {
		err = retry.RetryOnConflict(retry.DefaultBackoff, o.reconcile)
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", o.name, err)
	}
	return nil
}

func defaultRoles(api kubernetes.Interface) (out []object) {
	for _, r := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
		out = append(out, clusterRole(api, &r))
	}
	for _, b := range append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...) {
		out = append(out, clusterRoleBinding(api, &b))
	}
	for _, roles := range bootstrappolicy.NamespaceRoles() {
		for _, r := range roles {
			out = append(out, role(api, &r))
		}
	}
	for _, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, b := range bindings {
			out = append(out, roleBinding(api, &b))
		}
	}
	return out
}

func clusterRole(api kubernetes.Interface, r *rbacv1.ClusterRole) object {
	client := api.RbacV1().ClusterRoles()
	return object{
		name:   "cluster role " + r.Name,
		create: func(ctx context.Context) error { _, err := client.Create(ctx, r, metav1.CreateOptions{}); return err },
		reconcile: func() error {
			o := reconciliation.ReconcileRoleOptions{Role: reconciliation.ClusterRoleRuleOwner{ClusterRole: r}, Client: reconciliation.ClusterRoleModifier{Client: client}, Confirm: true}
			_, err := o.Run()
			return err
		},
	}
}

func clusterRoleBinding(api kubernetes.Interface, b *rbacv1.ClusterRoleBinding) object {
	client := api.RbacV1().ClusterRoleBindings()
	return object{
		name:   "cluster role binding " + b.Name,
		create: func(ctx context.Context) error { _, err := client.Create(ctx, b, metav1.CreateOptions{}); return err },
		reconcile: func() error {
			o := reconciliation.ReconcileRoleBindingOptions{RoleBinding: reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: b}, Client: reconciliation.ClusterRoleBindingClientAdapter{Client: client}, Confirm: true}
			_, err := o.Run()
			return err
		},
	}
}

// role is reconciled at once, which creates its namespace too.
func role(api kubernetes.Interface, r *rbacv1.Role) object {
	reconcile := func() error {
		o := reconciliation.ReconcileRoleOptions{
			Role:   reconciliation.RoleRuleOwner{Role: r},
			Client: reconciliation.RoleModifier{Client: api.RbacV1(), NamespaceClient: api.CoreV1().Namespaces()}, Confirm: true,
		}
		_, err := o.Run()
		return err
	}
	return object{name: "role " + r.Name, create: func(context.Context) error { return reconcile() }, reconcile: reconcile}
}

func roleBinding(api kubernetes.Interface, b *rbacv1.RoleBinding) object {
	reconcile := func() error {
		o := reconciliation.ReconcileRoleBindingOptions{
			RoleBinding: reconciliation.RoleBindingAdapter{RoleBinding: b},
			Client:      reconciliation.RoleBindingClientAdapter{Client: api.RbacV1(), NamespaceClient: api.CoreV1().Namespaces()}, Confirm: true,
		}
		_, err := o.Run()
		return err
	}
	return object{name: "role binding " + b.Name, create: func(context.Context) error { return reconcile() }, reconcile: reconcile}
}

// defaultClasses are never changed once they exist.
func defaultClasses(api kubernetes.Interface) (out []object) {
	for _, c := range schedulingv1.SystemPriorityClasses() {
		out = append(out, object{
			name: "priority class " + c.Name,
			create: func(ctx context.Context) error {
				_, err := api.SchedulingV1().PriorityClasses().Create(ctx, c, metav1.CreateOptions{})
				return err
			},
			reconcile: func() error { return nil },
		})
	}
	return out
}
