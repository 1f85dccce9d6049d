// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

// Reasons of an Error that mean the same on every platform. A driver adds reasons of
// its own only for what its platform alone has; none contains the name of a platform.
const (
	// ReasonPlatformUnavailable: the platform did not answer, or is out of order.
	ReasonPlatformUnavailable = "PlatformUnavailable"
	// ReasonPlatformThrottled: the platform refuses calls because there are too many.
	ReasonPlatformThrottled = "PlatformThrottled"
	// ReasonPlatformUnreachable: no connection was established.
	ReasonPlatformUnreachable = "PlatformUnreachable"
	// ReasonPlatformConflict: another writer changed or uses the object; it is retried.
	ReasonPlatformConflict = "PlatformConflict"
	// ReasonPlatformRefused: the platform does not accept the object.
	ReasonPlatformRefused = "PlatformRefused"
	// ReasonNotFound: the platform does not know what was addressed.
	ReasonNotFound = "NotFound"

	// ReasonSettingsMissing: the ProviderConfig has no block for its provider.
	ReasonSettingsMissing = "SettingsMissing"
	// ReasonFieldUnsupported: a field that the platform cannot honour is set.
	ReasonFieldUnsupported = "FieldUnsupported"
	// ReasonEndpointForeign: what answers at the endpoint is another service.
	ReasonEndpointForeign = "EndpointForeign"
	// ReasonEndpointNotConfirmed: the Secret does not confirm the endpoint of the spec.
	ReasonEndpointNotConfirmed = "EndpointNotConfirmed"
	// ReasonCertificateRefused: the platform's certificate is not trusted.
	ReasonCertificateRefused = "CertificateRefused"
	// ReasonCredentialsMissing: there are no credentials.
	ReasonCredentialsMissing = "CredentialsMissing"
	// ReasonCredentialsIncomplete: the Secret lacks a key.
	ReasonCredentialsIncomplete = "CredentialsIncomplete"
	// ReasonCredentialsRefused: the platform does not accept the credentials.
	ReasonCredentialsRefused = "CredentialsRefused"
	// ReasonPermissionDenied: the credentials are valid and do not suffice.
	ReasonPermissionDenied = "PermissionDenied"
	// ReasonQuotaExceeded: a quota is used up.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonCapacityExhausted: the platform has no room for the machine at present.
	ReasonCapacityExhausted = "CapacityExhausted"
	// ReasonNoAddress: the machine runs, and the platform reports no address of it.
	ReasonNoAddress = "NoAddress"
	// ReasonStartFailed: the machine exists, and the platform could not start it.
	ReasonStartFailed = "StartFailed"
	// ReasonNotVisible: the platform says that an object exists, and does not show it.
	ReasonNotVisible = "NotVisible"
	// ReasonAttemptInvalid: the record of an attempt cannot be used.
	ReasonAttemptInvalid = "AttemptInvalid"
	// ReasonAttemptSpent: what an attempt created is gone, and its call creates nothing more.
	ReasonAttemptSpent = "AttemptSpent"
	// ReasonInstanceTypeNotFound: no size, or not the one of the settings, is offered.
	ReasonInstanceTypeNotFound = "InstanceTypeNotFound"
	// ReasonInstanceTypeTooSmall: the size of the settings has less than is asked for.
	ReasonInstanceTypeTooSmall = "InstanceTypeTooSmall"
	// ReasonUserDataTooLong: the platform does not accept that much user data.
	ReasonUserDataTooLong = "UserDataTooLong"

	// ReasonOwnerMissing: a call names no owner.
	ReasonOwnerMissing = "OwnerMissing"
	// ReasonLabelReserved: spec.labels sets a tag that the driver sets.
	ReasonLabelReserved = "LabelReserved"
	// ReasonNameTaken: the name belongs to an object of another owner.
	ReasonNameTaken = "NameTaken"
	// ReasonPartDeleting: an object of an earlier attempt is still being deleted.
	ReasonPartDeleting = "PartDeleting"
	// ReasonDeletionRefused: the platform keeps an object that is in use.
	ReasonDeletionRefused = "DeletionRefused"
	// ReasonAdoptionRefused: the machine is not the one to adopt.
	ReasonAdoptionRefused = "AdoptionRefused"

	// ReasonImageMissing: neither the request nor the ProviderConfig names an image.
	ReasonImageMissing = "ImageMissing"
	// ReasonImageInvalid: the name of the image has the wrong form.
	ReasonImageInvalid = "ImageInvalid"
	// ReasonImageNotFound: there is no such image.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonImageNotReady: the image is being imported.
	ReasonImageNotReady = "ImageNotReady"
	// ReasonImageBroken: the import of the image failed.
	ReasonImageBroken = "ImageBroken"
	// ReasonNetworkNotFound: there is no such network.
	ReasonNetworkNotFound = "NetworkNotFound"
	// ReasonAddressUnsupported: the platform, its network or the image cannot give a machine
	// the address that is asked for.
	ReasonAddressUnsupported = "AddressUnsupported"
	// ReasonAddressInvalid: the address that is asked for is none of the network.
	ReasonAddressInvalid = "AddressInvalid"
)
