// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var api *rest.Config

// vault is where credentials of platforms lie; the release is elsewhere.
const vault = "vault"

// TestMain starts a cluster that knows none of the kinds, since the chart brings
// them, and that writes down all that is asked of it.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(recorded(m))
}

// installed is a client of the cluster on which all charts are installed, with
// the values of a highly available cluster.
func installed(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		must(t, add(s))
	}
	c, err := client.New(api, client.Options{Scheme: s})
	must(t, err)
	for name, level := range map[string]string{namespace: "restricted", vault: "baseline"} {
		apply(t, c, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": name, "labels": map[string]any{"pod-security.kubernetes.io/enforce": level}},
		}})
	}
	for _, a := range ofAll(t) {
		for _, o := range objects(t, a.Source.Chart, a.Values) {
			apply(t, c, o)
		}
	}
	return c
}

func apply(t *testing.T, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test")); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

func TestTheDefinitionsArriveAsTheyAre(t *testing.T) {
	c := installed(t)
	all, err := crd.All()
	must(t, err)
	for _, want := range all {
		got := &apiextensionsv1.CustomResourceDefinition{}
		await(t, nil, func() error {
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(want), got))
			for _, condition := range got.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("%s is not established: %+v", want.Name, got.Status)
		})
		if diff := cmp.Diff(want.Spec.Versions, got.Spec.Versions); diff != "" {
			t.Errorf("%s: %s", want.Name, diff)
		}
		if got.Annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s goes with the release", want.Name)
		}
	}
}

func TestIdsAreKeptFromChange(t *testing.T) {
	c := installed(t)
	want, binding, err := admission.Identity()
	must(t, err)
	got := &admissionv1.ValidatingAdmissionPolicy{}
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(want), got))
	if diff := cmp.Diff(want.Spec.Validations, got.Spec.Validations); diff != "" || got.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Errorf("annotations %v: %s", got.Annotations, diff)
	}
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(binding), binding))
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: vault, Name: "kept", Annotations: map[string]string{v1alpha1.AnnotationOwnerID: "one"}}}
	r.Spec = v1alpha1.MachineRequestSpec{ProviderRef: v1alpha1.ProviderReference{Name: "a"}, MachineName: "a", Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 1024, DiskGB: 10}
	await(t, nil, func() error {
		return client.IgnoreAlreadyExists(c.Create(t.Context(), r, client.FieldOwner("butler-restore")))
	})
	t.Cleanup(func() { must(t, c.Delete(context.Background(), r)) })
	await(t, nil, func() error {
		other := r.DeepCopy()
		other.Annotations[v1alpha1.AnnotationOwnerID] = "two"
		if err := c.Update(t.Context(), other, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "are immutable") {
			return fmt.Errorf("the id can be changed: %w", err)
		}
		return nil
	})
}

func TestPodsMeetTheRestrictedLevel(t *testing.T) {
	c := installed(t)
	for _, name := range controllers {
		d := &appsv1.Deployment{}
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
		must(t, c.Create(t.Context(), pod.DeepCopy(), client.DryRunAll))
		if *d.Spec.Replicas != 2 || pod.Spec.Containers[0].Image != "ghcr.io/butlerdotdev/"+name+":"+version {
			t.Errorf("%d of %s", *d.Spec.Replicas, pod.Spec.Containers[0].Image)
		}
		pod.Spec.SecurityContext.SeccompProfile = nil
		if err := c.Create(t.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) {
			t.Errorf("the level is not enforced: %v", err)
		}
	}
}

// awaitEvents waits until there is an event of each reason.
func awaitEvents(t *testing.T, c client.Client, logs *planetest.Output, reasons ...string) {
	t.Helper()
	await(t, logs, func() error {
		var list corev1.EventList
		must(t, c.List(t.Context(), &list))
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[e.Reason] = true
		}
		for _, r := range reasons {
			if !seen[r] {
				return fmt.Errorf("no event %s among %v", r, seen)
			}
		}
		return nil
	})
}

// content fails if the log has errors.
func content(t *testing.T, logs *planetest.Output) {
	t.Helper()
	if text := logs.String(); strings.Contains(text, "forbidden") || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", text)
	}
}

// invocation is how a chart runs its program: the arguments, but for the ports,
// and the account.
func invocation(t *testing.T, c client.Client, name string) (args []string, account string) {
	t.Helper()
	d := &appsv1.Deployment{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d))
	for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(arg, ":8081", "127.0.0.1:0"), ":8080", "0"))
	}
	return args, d.Spec.Template.Spec.ServiceAccountName
}

// started runs a binary of this project until the test ends, as its
// ServiceAccount and with the arguments of its chart, but for the ports.
func started(t *testing.T, c client.Client, name string) *planetest.Output {
	t.Helper()
	path, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/"+name)
	must(t, err)
	args, account := invocation(t, c, name)
	out := &planetest.Output{}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, c, account))
	cmd.Stdout, cmd.Stderr = out, out
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		hung := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		defer hung.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v:\n%s", name, err, out)
		}
	})
	return out
}

// kubeconfig of a ServiceAccount, with a token.
func kubeconfig(t *testing.T, c client.Client, account string) string {
	t.Helper()
	token := &authenticationv1.TokenRequest{}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	must(t, c.SubResource("token").Create(t.Context(), sa, token))
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: api.Host, CertificateAuthorityData: api.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*k, path))
	return path
}

func await(t *testing.T, logs *planetest.Output, check func() error) {
	t.Helper()
	err := tried(30*time.Second, check)
	if err != nil && logs != nil {
		t.Logf("log of the binary:\n%s", logs)
	}
	must(t, err)
}

// awaitFor is for what takes longer.
func awaitFor(t *testing.T, patience time.Duration, check func() error) {
	t.Helper()
	must(t, tried(patience, check))
}

func tried(patience time.Duration, check func() error) (err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}
