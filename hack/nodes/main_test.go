// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ready := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cp-0", CreationTimestamp: metav1.NewTime(now.Add(-90 * time.Second)),
			Labels: map[string]string{roleLabel + "control-plane": "", "other": ""},
		},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "cp-0"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.32.0"},
		},
	}
	young := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-0", CreationTimestamp: metav1.NewTime(now)}}
	var out strings.Builder
	if err := write(&out, []corev1.Node{ready, young}, now); err != nil {
		t.Fatal(err)
	}
	want := `NAME   STATUS     ROLES           AGE   VERSION   INTERNAL-IP
cp-0   Ready      control-plane   90s   v1.32.0   10.0.0.1
w-0    NotReady   <none>          0s              <none>
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
