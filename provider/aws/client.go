// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// clients are the services that the driver uses.
type clients struct {
	ec2     *ec2.Client
	elb     *elb.Client
	sts     *sts.Client
	quotas  *servicequotas.Client
	iam     *iam.Client
	release func()
}

// newClients returns clients that send every byte through the transport of the connection.
// An endpoint in the settings serves all of them.
func newClients(ctx context.Context, op string, c provider.Config) (clients, error) {
	config := aws.Config{Region: c.Spec.AWS.Region, Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
	if wanted := strings.TrimSuffix(c.Spec.AWS.Endpoint, "/"); wanted != "" {
		if _, err := c.Credentials.Endpoint(op, "spec.aws.endpoint", wanted, ""); err != nil {
			return clients{}, err
		}
		config.BaseEndpoint = &wanted
	}
	tls, err := c.Transport.TLS(provider.Trust{CABundle: c.Credentials.Get(v1alpha1.KeyCABundle)})
	if err != nil {
		return clients{}, provider.Invalid.New(op, provider.ReasonCertificateRefused, err, "correct the key "+v1alpha1.KeyCABundle+" of the Secret")
	}
	h := c.Transport.HTTPClient(tls)
	// A redirect would carry the signed request to another server.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	config.HTTPClient = sender{h}
	if config.Credentials, err = credentialsOf(ctx, op, c, config); err != nil {
		return clients{}, err
	}
	return clients{
		ec2: ec2.NewFromConfig(config), elb: elb.NewFromConfig(config), sts: sts.NewFromConfig(config),
		quotas: servicequotas.NewFromConfig(config), iam: iam.NewFromConfig(config), release: h.CloseIdleConnections,
	}, nil
}

// sender sends requests of the SDK under the name of the transport's agent.
type sender struct{ *http.Client }

// Do implements aws.HTTPClient.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	r.Header.Del("User-Agent")
	if err := repeatable(r); err != nil {
		return nil, err
	}
	return s.Client.Do(r)
}

// reads matches the body of requests that change nothing.
var reads = regexp.MustCompile(`^Action=(Describe|Get|List|Simulate)`)

// repeatable lets a request that only reads be sent again if the server had closed the
// connection before: AWS' requests are all POST, which net/http repeats only where a header
// of this name is present. It is not sent.
func repeatable(r *http.Request) error {
	if r.Body == nil || r.GetBody != nil {
		return nil
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	if r.Body, err = r.GetBody(); err == nil && reads.Match(content) {
		r.Header["X-Idempotency-Key"] = nil
	}
	return err
}
