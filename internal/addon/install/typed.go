// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"

	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// typed are clients of the groups that are read. Those of all groups would take 100 KiB for each
// cluster.
type typed struct {
	core      coreclient.CoreV1Interface
	apps      appsclient.AppsV1Interface
	batch     batchclient.BatchV1Interface
	admission admissionclient.AdmissionregistrationV1Interface
}

func newTyped(config *rest.Config) (t typed, err error) {
	var errs [4]error
	t.core, errs[0] = coreclient.NewForConfig(config)
	t.apps, errs[1] = appsclient.NewForConfig(config)
	t.batch, errs[2] = batchclient.NewForConfig(config)
	t.admission, errs[3] = admissionclient.NewForConfig(config)
	return t, errors.Join(errs[:]...)
}
