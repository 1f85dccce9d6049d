// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func connection() []Entry {
	return []Entry{
		{"PlatformUnavailable", "the platform did not answer, or is out of order", "none, if it passes: the call is retried. Otherwise check the platform's own health"},
		{"PlatformThrottled", "the platform refuses calls because there are too many", "none, if it passes: the calls are retried more slowly. Otherwise look for other clients that use the same account"},
		{"PlatformUnreachable", "no connection to the platform was established", "check the endpoint of the ProviderConfig, routes, firewalls and proxies from where the controller runs"},
		{"PlatformConnecting", "the first connection to the platform is being established", ""},
		{"PlatformConflict", "another writer changed or uses the object at the same time", ""},
		{"PlatformRefused", "the platform does not accept the object; the message is the platform's", "correct the field that the message names"},
		{"PlatformChanged", "the credentials or the endpoint are of another platform than the one a request is on", "restore those of the first platform. If the new one has replaced it for good, remove the annotation `butler.butlerlabs.dev/platform` from the requests"},
		{"PlatformUnknown", "the platform does not show the object, and the credentials may not read which platform this is", "grant what identifies the platform (guide of the provider), or, if it is the platform, remove the annotation `butler.butlerlabs.dev/platform`"},
		{"NotFound", "the platform does not know what was addressed: a namespace, a subscription, a resource group", "correct the field that the message names"},
		{"TimedOut", "the shared listing of a platform's machines took too long", "none, if it passes: the call is retried. Otherwise check the platform's load"},
		{"EndpointForeign", "what answers at the endpoint is another service", "correct the endpoint of the ProviderConfig"},
		{"EndpointInvalid", "the endpoint has a form that cannot be used", "write it as the message says: scheme, host and port"},
		{"EndpointNotConfirmed", "the Secret with the credentials does not confirm the endpoint of the spec, so that they are not sent there", "correct the endpoint, or confirm it by the key `endpoint` of the Secret"},
		{"CertificateRefused", "the certificate of the platform is not trusted", "add its authority to the Secret or the ProviderConfig, as the guide of the provider says"},
		{"CredentialsMissing", "there are no credentials", "create the Secret, or set `spec.credentialsRef` of the ProviderConfig"},
		{"CredentialsNotFound", "the Secret of `spec.credentialsRef` does not exist", "create it"},
		{"CredentialsUnreadable", "the Secret may exist, but cannot be read", "grant the controller `get` on this Secret"},
		{"CredentialsNotGranted", "the Secret is of another namespace and does not allow this one", "add the namespace to the annotation `butler.butlerlabs.dev/allowed-namespaces` of the Secret, or use a Secret of the same namespace"},
		{"CredentialsIncomplete", "the Secret lacks a key", "add the key that the message names"},
		{"CredentialsInvalid", "the kubeconfig of Harvester in the Secret cannot be parsed", "correct it in the Secret"},
		{"CredentialsRefused", "the platform does not accept the credentials", "replace them in the Secret; no restart is needed"},
		{"PermissionDenied", "the credentials are valid, but do not allow the call", "grant the permission that the message names; the guide of the provider lists all of them"},
		{"PolicyRefused", "a policy of the Azure subscription forbids the object", "change the policy, or ask its administrator for an exemption"},
		{"KubeconfigInvalid", "the kubeconfig of Harvester cannot be parsed, or has no current context with cluster and user", "correct it in the Secret"},
		{"KubeconfigNotSelfContained", "the kubeconfig of Harvester names files or programs of the machine that it was written on", "write it with `kubectl config view --flatten`"},
		{"CredentialsAccepted", "the platform accepts the credentials, and machines can be requested", ""},
		{"Checking", "the platform is checked again, before a move of the management or after a change", ""},
		{"PreflightRefused", "the credentials are accepted, but no machine could be created; the message has each check that refused", "do what the message says"},
		{"NoController", "no provider's controller has reported on the ProviderConfig for 30 seconds", "install and start the chart `butler-provider-<type>`"},
	}
}
