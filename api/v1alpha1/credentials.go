// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Keys of the Secret that spec.credentialsRef of a ProviderConfig names. A provider
// reads those of its own list only. The Secret of a container registry has KeyUsername,
// KeyPassword and KeyCABundle.
const (
	// KeyEndpoint confirms the endpoint that credentials are sent to.
	KeyEndpoint = "endpoint"

	// KeyKubeconfig holds the kubeconfig of Harvester.
	KeyKubeconfig = "kubeconfig"

	// KeyUsername, KeyPassword and KeyCABundle log in to Nutanix and Proxmox.
	KeyUsername = "username"
	KeyPassword = "password"
	KeyCABundle = "caBundle"
	// KeyAPIKey is an API key of Nutanix, instead of user and password.
	KeyAPIKey = "apiKey"
	// KeyToken and KeyTokenSecret are an API token of Proxmox.
	KeyToken       = "token"
	KeyTokenSecret = "tokenSecret"
	// KeyFingerprint is the SHA-256 fingerprint of the certificate of a Proxmox node. That
	// certificate alone is accepted then.
	KeyFingerprint = "fingerprint"

	// KeyAccessKeyID, KeySecretAccessKey and KeySessionToken log in to AWS.
	KeyAccessKeyID     = "accessKeyID"
	KeySecretAccessKey = "secretAccessKey"
	KeySessionToken    = "sessionToken"
	// KeyExpiration is when the session token ends, in RFC 3339.
	KeyExpiration = "expiration"
	// KeyRoleARN is a role to assume, KeyExternalID what its trust policy asks for, and
	// KeyWebIdentityToken a token of another identity provider that it trusts.
	KeyRoleARN          = "roleARN"
	KeyExternalID       = "externalID"
	KeyWebIdentityToken = "webIdentityToken"

	// KeyServiceAccountKey holds the JSON of a GCP service account's key.
	KeyServiceAccountKey = "serviceAccountKey"
	// KeyExternalAccount holds the JSON of a workload identity federation of GCP, and
	// KeySubjectToken the token of the other identity provider.
	KeyExternalAccount = "externalAccount"
	KeySubjectToken    = "subjectToken"

	// KeyTenantID, KeyClientID, KeyClientSecret and KeySubscriptionID log in to Azure.
	KeyTenantID       = "tenantID"
	KeyClientID       = "clientID"
	KeyClientSecret   = "clientSecret"
	KeySubscriptionID = "subscriptionID"
	// KeyClientCertificate is a certificate with its private key in PEM, and
	// KeyFederatedToken a token of another identity provider that the client trusts; each
	// instead of the client's secret.
	KeyClientCertificate = "clientCertificate"
	KeyFederatedToken    = "federatedToken"
	// KeyAuthorityHost confirms the authority that the credentials are sent to.
	KeyAuthorityHost = "authorityHost"
)
