// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// sessionName is that of assumed roles, in the records of the account.
const sessionName = "butler"

// keyAccessKeyIDOld is the spelling of AWS' own files.
const keyAccessKeyIDOld = "accessKeyId"

// credentialsOf returns what requests are signed with. Credentials that end are renewed
// while the connection is in use.
func credentialsOf(ctx context.Context, op string, c provider.Config, base aws.Config) (aws.CredentialsProvider, error) {
	role := string(c.Credentials.Get(v1alpha1.KeyRoleARN))
	if token := c.Credentials.Get(v1alpha1.KeyWebIdentityToken); token != nil {
		if role == "" {
			return nil, incomplete(op, "webIdentityToken is set without roleARN", "set roleARN to the role that trusts the token")
		}
		base.Credentials = aws.AnonymousCredentials{}
		return aws.NewCredentialsCache(stscreds.NewWebIdentityRoleProvider(sts.NewFromConfig(base), role, identityToken(token),
			func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = sessionName })), nil
	}
	own, err := ownCredentials(ctx, op, c, base)
	if err != nil || role == "" {
		return own, err
	}
	base.Credentials = own
	return aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base), role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = sessionName
		if id := string(c.Credentials.Get(v1alpha1.KeyExternalID)); id != "" {
			o.ExternalID = &id
		}
	})), nil
}

// ownCredentials are the keys of the Secret. Without any they are those that AWS' own
// tools use on this machine, where that is allowed.
func ownCredentials(ctx context.Context, op string, c provider.Config, base aws.Config) (aws.CredentialsProvider, error) {
	id, secret := c.Credentials.Get(v1alpha1.KeyAccessKeyID, keyAccessKeyIDOld), c.Credentials.Get(v1alpha1.KeySecretAccessKey)
	switch {
	case id != nil && secret != nil:
		return credentials.NewStaticCredentialsProvider(string(id), string(secret), string(c.Credentials.Get(v1alpha1.KeySessionToken))), nil
	case id != nil || secret != nil || !c.Ambient:
		_, err := c.Credentials.Require(op, v1alpha1.KeyAccessKeyID, "set accessKeyID and secretAccessKey")
		if err == nil {
			_, err = c.Credentials.Require(op, v1alpha1.KeySecretAccessKey, "set accessKeyID and secretAccessKey")
		}
		return nil, err
	}
	ambient, err := config.LoadDefaultConfig(ctx, config.WithRegion(base.Region), config.WithHTTPClient(buildable(c.Transport)),
		config.WithRetryer(base.Retryer), config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = metadata(base) }))
	if err != nil {
		return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsMissing, err, "log in with AWS' own tools, or set spec.credentialsRef")
	}
	return ambient.Credentials, nil
}

// buildable is an HTTP client over the transport to which the SDK can add the authorities
// of AWS_CA_BUNDLE: where that is set, it refuses other clients.
func buildable(t provider.Transport) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(h *http.Transport) {
		h.DialContext, h.Proxy, h.TLSClientConfig = t.Dial, t.Proxy, &tls.Config{MinVersion: tls.VersionTLS12}
		if t.RootCAs != nil {
			h.TLSClientConfig.RootCAs = t.RootCAs.Clone()
		}
	})
}

// metadata is a client of the metadata server over the transport: the SDK's own one would
// dial by itself.
func metadata(base aws.Config) *imds.Client {
	o := imds.Options{HTTPClient: base.HTTPClient, Retryer: base.Retryer(), Endpoint: os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")}
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		o.ClientEnableState = imds.ClientDisabled
	}
	return imds.New(o)
}

func incomplete(op, what, hint string) error {
	return provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, errors.New(what), hint)
}

// identityToken is a token of another identity provider that a role trusts.
type identityToken []byte

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (t identityToken) GetIdentityToken() ([]byte, error) { return t, nil }
