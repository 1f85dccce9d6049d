// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// oneNode is a cluster of one machine that waits for Cilium.
func oneNode(t *testing.T, o simtalos.Options) (*site, *kubernetes.Clientset) {
	t.Helper()
	s := newSite(t, o)
	address := s.join(t, talos.Node{Name: "cp-0", Role: talos.ControlPlane, ProviderID: "example://cp-0"})
	s.bootstrap(t, address)
	check(t, s.network.Await(t.Context(), sharedIP+":6443"))
	return s, s.kubernetes(t, address)
}

// join powers a machine on and pushes a configuration by which it waits for Cilium.
func (s *site) join(t *testing.T, n talos.Node) (address string) {
	t.Helper()
	c := testCluster()
	c.CNI = talos.CNICilium
	config, err := talos.Config(s.secrets, c, n)
	check(t, err)
	address = s.powerOn(t, n.Name).Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	check(t, s.client.Apply(t.Context(), address, config))
	return address
}

// podTemplate is one whose pods belong to an addon, unless that is empty.
func podTemplate(app, addon string) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"k8s-app": app}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers:                    []corev1.Container{{Name: app, Image: "example.com/" + app, Ports: []corev1.ContainerPort{{Name: "hook", ContainerPort: 9443}}}},
		},
	}
	if addon != "" {
		template.Annotations = map[string]string{standin.Addon: addon}
	}
	return template
}

func createDeployment(t *testing.T, client *kubernetes.Clientset, app, addon string) {
	t.Helper()
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": app}},
			Template: podTemplate(app, addon),
		},
	}, metav1.CreateOptions{})
	check(t, err)
}

// installCilium creates an agent as it matters here.
func installCilium(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	template := podTemplate("cilium", "cilium")
	template.Spec.HostNetwork = true
	template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	template.Spec.Containers[0].Ports = nil
	_, err := client.AppsV1().DaemonSets("kube-system").Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "cilium"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template,
		},
	}, metav1.CreateOptions{})
	check(t, err)
}

// awaitPods waits until all pods of the app are as they are to be, and there are n.
func awaitPods(t *testing.T, client *kubernetes.Clientset, app string, n int, want func(*corev1.Pod) bool) (pods []corev1.Pod) {
	t.Helper()
	eventually(t, func(ctx context.Context) bool {
		list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=" + app})
		if err != nil {
			return false
		}
		pods = list.Items
		for _, p := range pods {
			if !want(&p) {
				return false
			}
		}
		return len(pods) == n
	}, func() any {
		text := fmt.Sprintf("%d pods", len(pods))
		for _, p := range pods {
			text += fmt.Sprintf("\n%s: %s %+v %+v", p.Name, p.Status.Phase, p.Status.Conditions, p.Status.ContainerStatuses)
		}
		return text
	})
	return pods
}

func podReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestNodesHaveNoNetworkBeforeCilium(t *testing.T) {
	t.Parallel()
	s, client := oneNode(t, simtalos.Options{Executable: planetest.Executable(t)})
	s.join(t, talos.Node{Name: "w-0", Role: talos.Worker})
	for _, name := range []string{"cp-0", "w-0"} {
		awaitNoNetwork(t, client, name)
	}
	createDeployment(t, client, "web", "")
	awaitPods(t, client, "web", 2, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodPending })
	installCilium(t, client)
	node := awaitNode(t, client, "cp-0")
	if node.Spec.ProviderID != "example://cp-0" {
		t.Errorf("provider ID %q", node.Spec.ProviderID)
	}
	if other := awaitNode(t, client, "w-0"); other.Spec.PodCIDR == node.Spec.PodCIDR {
		t.Errorf("two nodes have %s", node.Spec.PodCIDR)
	}
	t.Run("pods have addresses of their own", func(t *testing.T) { podAddresses(t, client) })
	t.Run("the network stays without its agent, until the machine restarts", func(t *testing.T) {
		check(t, client.AppsV1().DaemonSets("kube-system").Delete(t.Context(), "cilium", metav1.DeleteOptions{}))
		awaitPods(t, client, "cilium", 0, podReady)
		if c := readyCondition(t.Context(), client, "cp-0"); c == nil || c.Status != corev1.ConditionTrue {
			t.Errorf("the node does not stay Ready without the agent: %v", c)
		}
		s.datacenter.Kill("cp-0")
		s.powerOn(t, "cp-0")
		awaitNoNetwork(t, client, "cp-0")
		installCilium(t, client)
		awaitNode(t, client, "cp-0")
		awaitPods(t, client, "web", 2, podReady)
	})
}

func awaitNoNetwork(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	var c *corev1.NodeCondition
	eventually(t, func(ctx context.Context) bool {
		c = readyCondition(ctx, client, name)
		return c != nil && c.Status == corev1.ConditionFalse && c.Reason == "KubeletNotReady" && strings.Contains(c.Message, "NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
	}, func() any { return fmt.Sprint(name, ": ", c) })
}

func podAddresses(t *testing.T, client *kubernetes.Clientset) {
	seen := map[string]bool{}
	for _, p := range awaitPods(t, client, "web", 2, podReady) {
		node, err := client.CoreV1().Nodes().Get(t.Context(), p.Spec.NodeName, metav1.GetOptions{})
		check(t, err)
		if own := netip.MustParsePrefix(node.Spec.PodCIDR); !own.Contains(netip.MustParseAddr(p.Status.PodIP)) {
			t.Errorf("pod at %s, want one of %s", p.Status.PodIP, own)
		}
		if seen[p.Status.PodIP] {
			t.Errorf("two pods at %s", p.Status.PodIP)
		}
		seen[p.Status.PodIP] = true
	}
}

// plan begins when the test says so.
func plan(faults ...fault.Fault) *fault.Injector {
	for i := range faults {
		faults[i].After = metav1.Duration{Duration: time.Millisecond}
	}
	return fault.NewInjector(fault.Plan{Faults: faults})
}

func TestFaultsOfAddons(t *testing.T) {
	t.Parallel()
	injector := plan(
		fault.Fault{Kind: fault.AddonNotReady, Addon: "ever"},
		fault.Fault{Kind: fault.AddonNotReady, Addon: "once", For: metav1.Duration{Duration: 2 * time.Second}},
		fault.Fault{Kind: fault.HookFails, Addon: "hooks"},
		fault.Fault{Kind: fault.WebhookRefuses, Addon: "webhook"},
	)
	s, client := oneNode(t, simtalos.Options{Executable: planetest.Executable(t), Faults: injector})
	installCilium(t, client)
	for _, addon := range []string{"ever", "once", "webhook"} {
		createDeployment(t, client, addon, addon)
	}
	for _, addon := range []string{"ever", "once", "webhook"} {
		awaitPods(t, client, addon, 2, podReady)
	}
	t.Run("a hook succeeds", func(t *testing.T) { hook(t, client, "hook", batchv1.JobComplete) })
	t.Run("a webhook allows", func(t *testing.T) { webhookAllows(t, client) })
	t.Run("a service is balanced", func(t *testing.T) {
		m, _ := s.datacenter.Running("cp-0")
		balanced(t, s.access(t, m.Address.Addr().String()), client)
	})
	injector.Begin()
	t.Run("an addon gets unready", func(t *testing.T) {
		pods := awaitPods(t, client, "ever", 2, func(p *corev1.Pod) bool { return !podReady(p) })
		if w := pods[0].Status.ContainerStatuses[0].State.Waiting; w == nil || w.Reason != "CrashLoopBackOff" || !strings.Contains(w.Message, "fault plan") {
			t.Errorf("its container waits for %+v", w)
		}
	})
	t.Run("an addon recovers", func(t *testing.T) {
		awaitPods(t, client, "once", 2, func(p *corev1.Pod) bool {
			return podReady(p) && p.Status.ContainerStatuses[0].RestartCount == 1
		})
	})
	t.Run("a hook fails", func(t *testing.T) { hook(t, client, "hooks", batchv1.JobFailed) })
	t.Run("a webhook refuses", func(t *testing.T) { webhookRefuses(t, client) })
	t.Run("a webhook without pods is not reached", func(t *testing.T) { webhookGone(t, client) })
}

func hook(t *testing.T, client *kubernetes.Clientset, addon string, want batchv1.JobConditionType) {
	template := podTemplate(addon, addon)
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := client.BatchV1().Jobs("default").Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: addon},
		Spec:       batchv1.JobSpec{Template: template, BackoffLimit: new(int32(0))},
	}, metav1.CreateOptions{})
	check(t, err)
	var job *batchv1.Job
	eventually(t, func(ctx context.Context) bool {
		if job, err = client.BatchV1().Jobs("default").Get(ctx, addon, metav1.GetOptions{}); err != nil {
			return false
		}
		for _, c := range job.Status.Conditions {
			if c.Type == want {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	}, func() any { return fmt.Sprint(job.Status, err) })
}

// webhookAllows registers one for ConfigMaps with a label.
func webhookAllows(t *testing.T, client *kubernetes.Clientset) {
	_, err := client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "webhook"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"k8s-app": "webhook"},
			Ports:    []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromString("hook")}},
		},
	}, metav1.CreateOptions{})
	check(t, err)
	covered := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	service := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "webhook", Path: new("/validate")}}
	only := &metav1.LabelSelector{MatchLabels: map[string]string{"covered": "true"}}
	none := admissionregistrationv1.SideEffectClassNone
	hooks := client.AdmissionregistrationV1()
	_, err = hooks.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "webhook"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validating.example.com", ClientConfig: service, Rules: covered, ObjectSelector: only, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	check(t, err)
	_, err = hooks.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "webhook"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutating.example.com", ClientConfig: service, Rules: covered, ObjectSelector: only, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	check(t, err)
	eventually(t, func(ctx context.Context) bool {
		validating, err1 := hooks.ValidatingWebhookConfigurations().Get(ctx, "webhook", metav1.GetOptions{})
		mutating, err2 := hooks.MutatingWebhookConfigurations().Get(ctx, "webhook", metav1.GetOptions{})
		err = errors.Join(err1, err2)
		return err == nil && len(validating.Webhooks[0].ClientConfig.CABundle) > 0 && len(mutating.Webhooks[0].ClientConfig.CABundle) > 0
	}, func() any { return fmt.Sprint("no CA bundle ", err) })
	// The API server uses a configuration a moment after it has it.
	eventually(t, func(context.Context) bool { err = createCovered(t, client); return err == nil }, func() any { return err })
	if code, err := proxied(t, client); code != 405 {
		t.Errorf("a GET through the service's proxy: %d, %v", code, err)
	}
}

func createCovered(t *testing.T, client *kubernetes.Clientset) error {
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "covered-", Labels: map[string]string{"covered": "true"}},
	}, metav1.CreateOptions{})
	return err
}

// proxied asks the webhook's service by way of the API server, and returns the code of
// the answer.
func proxied(t *testing.T, client *kubernetes.Clientset) (code int, err error) {
	err = client.CoreV1().RESTClient().Get().
		AbsPath("/api/v1/namespaces/default/services/https:webhook:443/proxy/validate").Do(t.Context()).Error()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return int(status.Status().Code), err
	}
	return 0, err
}

func webhookRefuses(t *testing.T, client *kubernetes.Clientset) {
	err := createCovered(t, client)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "fault plan") {
		t.Errorf("creation under a webhook that refuses: %v", err)
	}
}

func webhookGone(t *testing.T, client *kubernetes.Clientset) {
	check(t, client.AppsV1().Deployments("default").Delete(t.Context(), "webhook", metav1.DeleteOptions{}))
	awaitPods(t, client, "webhook", 0, podReady)
	if err := createCovered(t, client); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "no pod that is ready") {
		t.Errorf("creation without a webhook's pods: %v", err)
	}
	if code, err := proxied(t, client); code != 503 {
		t.Errorf("a GET through the service's proxy: %d, %v", code, err)
	}
}
