// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenant builds the objects of a tenant cluster: those of Cluster API, of the hosted
// control plane and of the infrastructure provider of each platform. It is pure: an Input goes
// in, unstructured objects come out, and nothing is read or written.
//
// A controller calls Build in every pass and applies what it returns, server-side, with a field
// owner of its own, in the order of Objects.InOrder. Objects whose input is not known yet are
// left out:
//
//	Cluster, control plane      always
//	credentials                 always
//	infrastructure cluster      once Input.Endpoint is known
//	machine template, workers   once Input.Endpoint and Input.BootstrapSecret are known
//
// # The endpoint
//
// Hosted control planes report spec.controlPlaneEndpoint on the control plane object as soon as
// their Service has an address; with Ingress and Gateway it is known beforehand, see
// KnownEndpoint. The providers of hosted control planes do not write it to infrastructure
// clusters here: their gate SkipInfraClusterPatch is set by the installer, because they know
// neither GCPCluster nor HarvesterCluster. So Build writes it to the Cluster and to the
// infrastructure cluster, for all platforms alike. Objects.Status has what else an
// infrastructure cluster needs that its own controller leaves alone.
//
// # Machine templates
//
// They are immutable. The name of one has a hash of its content, so a changed size or image is
// another template, and the MachineDeployment that refers to it replaces the workers. One that
// exists is not applied again: webhooks of providers add fields to it, and refuse every change.
// Templates that no Machine refers to may be deleted.
//
// # What only the platform knows
//
// Input.Resolved carries it: the caller reads it before it calls Build. Errors of type
// *FieldError name the field that cannot be served, and why; ErrUnresolved is in them if a
// field of Resolved is missing.
//
// # Credentials
//
// Secrets with credentials are in the tenant namespace, in which no member of a team has a
// role; Cluster API's provider for AWS wants them in its own namespace. See Outside for what
// has to be deleted by name because it is not in the tenant namespace.
package tenant
