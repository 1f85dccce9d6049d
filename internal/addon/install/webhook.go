// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/addon"
)

// hook is one webhook of a configuration.
type webhook struct {
	name   string
	client admissionv1.WebhookClientConfig
}

// webhooks must have a CA bundle, and their service must answer. That is asked
// for last: while pods are missing, none answers.
func (l *looker) webhooks(v *view, r addon.Readiness) error {
	answered := map[string]bool{}
	for _, ref := range r.Webhooks {
		if _, _, err := l.attend(ref); err != nil {
			return err
		}
		all, err := l.webhooksOf(ref)
		switch {
		case apierrors.IsNotFound(err):
			v.add(ref, absent)
			continue
		case err != nil:
			return err
		}
		for _, h := range all {
			if err := l.webhook(v, ref, h, answered); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *looker) webhook(v *view, ref addon.Ref, h webhook, answered map[string]bool) error {
	s := h.client.Service
	switch {
	case s == nil:
		return nil
	case len(bytes.TrimSpace(h.client.CABundle)) == 0: // some hold the place with a line feed
		v.add(ref, "webhook "+h.name+" has no CA bundle yet")
		return nil
	case len(v.obstacles) > 0 || answered[servicePath(s)]:
		return nil
	}
	why, err := l.silent(l.ctx, s)
	if why != "" {
		v.add(ref, fmt.Sprintf("service %s/%s does not answer: %s", s.Namespace, s.Name, why))
	}
	answered[servicePath(s)] = true
	return err
}

func (l *looker) webhooksOf(r addon.Ref) (out []webhook, err error) {
	api := l.kubernetes.admission
	switch r.Kind {
	case "ValidatingWebhookConfiguration":
		c, err := api.ValidatingWebhookConfigurations().Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for _, h := range c.Webhooks {
			out = append(out, webhook{h.Name, h.ClientConfig})
		}
	case "MutatingWebhookConfiguration":
		c, err := api.MutatingWebhookConfigurations().Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for _, h := range c.Webhooks {
			out = append(out, webhook{h.Name, h.ClientConfig})
		}
	default:
		return nil, fmt.Errorf("readiness of %s is not known", refName(r))
	}
	return out, nil
}

// servicePath leads through the API server to where it sends a webhook's
// requests.
func servicePath(s *admissionv1.ServiceReference) string {
	port, path := int32(443), ""
	if s.Port != nil {
		port = *s.Port
	}
	if s.Path != nil {
		path = *s.Path
	}
	return "/api/v1/namespaces/" + s.Namespace + "/services/https:" + s.Name + ":" + strconv.Itoa(int(port)) + "/proxy" + path
}

// silent is why the API server gets no answer from a service. Any answer of the
// far side will do; what the API server itself says is a Status.
func (c *connection) silent(ctx context.Context, s *admissionv1.ServiceReference) (string, error) {
	data, err := c.raw.Get().AbsPath(servicePath(s)).Do(ctx).Raw()
	if err == nil {
		return "", nil
	}
	said := metav1.Status{}
	if json.Unmarshal(data, &said) == nil && said.Kind == "Status" && said.APIVersion == "v1" {
		return silence(said.Message), nil
	}
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) && answer.Status().Code >= http.StatusBadRequest {
		return "", nil
	}
	return "", err
}

// silence is what an API server says about a service that does not answer,
// without the pod that it tried this time, and without its own way there.
func silence(said string) string {
	for _, why := range []string{"no endpoints available", "connection refused", "no route to host", "timeout", "certificate"} {
		if strings.Contains(said, why) {
			return why
		}
	}
	return said
}
