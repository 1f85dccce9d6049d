// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command nodes lists the nodes of a cluster as `kubectl get nodes` would. It
// reads a kubeconfig from the named file, or from standard input, and goes
// through its proxy-url.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const roleLabel = "node-role.kubernetes.io/"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, out io.Writer) error {
	kubeconfig, err := read(args, stdin)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("parse kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes of %s: %w", config.Host, err)
	}
	return write(out, nodes.Items, time.Now())
}

func read(args []string, stdin io.Reader) ([]byte, error) {
	if len(args) > 0 {
		return os.ReadFile(args[0])
	}
	return io.ReadAll(stdin)
}

func write(out io.Writer, nodes []corev1.Node, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATUS\tROLES\tAGE\tVERSION\tINTERNAL-IP")
	for _, node := range nodes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", node.Name, status(node), roles(node),
			duration.HumanDuration(now.Sub(node.CreationTimestamp.Time)),
			node.Status.NodeInfo.KubeletVersion, cmp.Or(address(node), "<none>"))
	}
	return table.Flush()
}

func status(node corev1.Node) string {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return "Ready"
		}
	}
	return "NotReady"
}

func roles(node corev1.Node) string {
	var found []string
	for label := range node.Labels {
		if role, ok := strings.CutPrefix(label, roleLabel); ok {
			found = append(found, role)
		}
	}
	slices.Sort(found)
	return cmp.Or(strings.Join(found, ","), "<none>")
}

func address(node corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}
