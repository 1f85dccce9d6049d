// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// The channels of the Gateway API.
const (
	standardChannel     = "standard"
	experimentalChannel = "experimental"
)

// gatewayDefinitions are those of a channel.
func gatewayDefinitions(version, channel string) []definition {
	const group = "gateway.networking.k8s.io"
	all := define(group, "v1", "gatewayclasses *GatewayClass", "gateways Gateway", "grpcroutes GRPCRoute", "httproutes HTTPRoute")
	all = append(all, define(group, "v1beta1", "referencegrants ReferenceGrant")...)
	if channel == experimentalChannel {
		all = append(all, define(group, "v1alpha2", "tlsroutes TLSRoute")...)
	}
	for i := range all {
		all[i].annotations = map[string]string{
			"api-approved.kubernetes.io":               "https://github.com/kubernetes-sigs/gateway-api/pull/2466",
			"gateway.networking.k8s.io/bundle-version": version,
			"gateway.networking.k8s.io/channel":        channel,
		}
	}
	return all
}

func gatewayAPI(r release) []part {
	return always(definitions(gatewayDefinitions(r.tag(), experimentalChannel))...)
}
