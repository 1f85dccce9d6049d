// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
)

// annotationClaim is on a namespace: the id of the state directory that it is claimed
// for, and after a space its holder, for people.
const annotationClaim = v1alpha1.Group + "/claimed-for"

// refuseControllers refuses a plane whose own controllers would act on the cluster, too.
func refuseControllers(ctx context.Context, config *rest.Config) error {
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	all, err := api.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=butler"})
	if err != nil {
		return fmt.Errorf("look for controllers on the plane %s: %w", config.Host, err)
	}
	for _, d := range all.Items {
		if d.Spec.Replicas == nil || *d.Spec.Replicas > 0 {
			return failure.Usagef("the plane %s runs controllers of its own, Deployment %s/%s, which would also act on the cluster; apply the manifest there with kubectl, or use another plane", config.Host, d.Namespace, d.Name)
		}
	}
	return nil
}

// claim claims the namespace for the state directory. It refuses one that another has
// claimed, and one with objects of this project's kinds, because they are another's.
func (o Options) claim(ctx context.Context, config *rest.Config) error {
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	mark := map[string]string{annotationClaim: o.ID + " " + o.Holder}
	found, err := api.CoreV1().Namespaces().Get(ctx, o.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.Namespace, Annotations: mark}}, metav1.CreateOptions{})
		return o.describe(err)
	}
	if err != nil {
		return o.describe(err)
	}
	holder, others := o.holder(found)
	switch {
	case holder:
		return nil
	case others != "":
		return failure.Usagef("%s is that of another state directory (%s); set metadata.namespace in the manifest to another, or use another plane", o, others)
	case !found.DeletionTimestamp.IsZero():
		return fmt.Errorf("%s is being deleted; wait until it is gone", o)
	}
	if err := o.refuseOccupied(ctx, config); err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&found.ObjectMeta, annotationClaim, mark[annotationClaim])
	_, err = api.CoreV1().Namespaces().Update(ctx, found, metav1.UpdateOptions{}) // refused if another was faster
	return o.describe(err)
}

func (o Options) describe(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("claim %s: %w", o, err)
}

// holder reports whether a namespace is claimed for this state directory, or who has it.
func (o Options) holder(n *corev1.Namespace) (bool, string) {
	id, who, _ := strings.Cut(n.Annotations[annotationClaim], " ")
	if id == o.ID {
		return true, ""
	}
	return false, who
}

// refuseOccupied refuses a namespace with objects of this project's kinds.
func (o Options) refuseOccupied(ctx context.Context, config *rest.Config) error {
	api, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	kinds, err := namespacedKinds()
	if err != nil {
		return err
	}
	for _, k := range kinds {
		all, err := api.Resource(k).Namespace(o.Namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return o.describe(err)
		}
		if len(all.Items) > 0 {
			return failure.Usagef("%s has objects already, for example %s %s; set metadata.namespace in the manifest to another", o, k.Resource, all.Items[0].Name)
		}
	}
	return nil
}
