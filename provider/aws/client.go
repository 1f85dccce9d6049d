// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"

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
	ec2     ec2Calls
	elb     elbCalls
	sts     *sts.Client
	quotas  *servicequotas.Client
	iam     iamCalls
	pricing pricingCalls
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
		ec2: ec2CallsOf(ec2.NewFromConfig(config)), elb: elbCallsOf(elb.NewFromConfig(config)), sts: sts.NewFromConfig(config),
		quotas: servicequotas.NewFromConfig(config), iam: iamCallsOf(iam.NewFromConfig(config)), pricing: pricingCallsOf(config),
		release: h.CloseIdleConnections,
	}, nil
}

// sender sends requests of the SDK under the name of the transport's agent.
type sender struct{ *http.Client }

// Do implements aws.HTTPClient. A request that only reads is sent once more if the server
// has closed the connection, as net/http does for GET: AWS' requests are all POST, and a
// server closes connections that were idle.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	r.Header.Del("User-Agent")
	content, err := contentOf(r)
	if err != nil {
		return nil, err
	}
	answer, err := s.Client.Do(r)
	if err == nil || !closed(err) || !reads.Match(content) || r.Context().Err() != nil {
		return answer, err
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(content))
	return s.Client.Do(again)
}

// reads matches the body of requests that change nothing.
var reads = regexp.MustCompile(`^Action=(Describe|Get|List|Simulate)`)

// contentOf returns the body of a request, which can still be sent.
func contentOf(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(content))
	return content, err
}

// closed reports whether a connection ended that had been open.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
