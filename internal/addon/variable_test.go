// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// secretData is a Secret as the API hands it out.
func secretData(pairs ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

func onPlatform(p v1alpha1.ProviderType, set func(*v1alpha1.ProviderConfigSpec)) v1alpha1.ProviderConfigSpec {
	s := v1alpha1.ProviderConfigSpec{Provider: p, CredentialsRef: &v1alpha1.SecretReference{Name: "own"}}
	if set != nil {
		set(&s)
	}
	return s
}

// abroad is a provider of a platform that is not the cluster's own.
func abroad(p v1alpha1.ProviderType, key string) Provider {
	out := infrastructureOf(p, Lines()[0])
	out.Credentials = &v1alpha1.SecretReference{Name: "foreign", Key: key}
	return out
}

func prism(endpoint string, port int32) v1alpha1.ProviderConfigSpec {
	return onPlatform(v1alpha1.ProviderNutanix, func(s *v1alpha1.ProviderConfigSpec) {
		s.Nutanix = &v1alpha1.NutanixSpec{Endpoint: endpoint, Port: port, Insecure: true}
	})
}

func TestVariablesOfProviders(t *testing.T) {
	harvester := onPlatform(v1alpha1.ProviderHarvester, nil)
	aws := onPlatform(v1alpha1.ProviderAWS, func(s *v1alpha1.ProviderConfigSpec) { s.AWS = &v1alpha1.AWSSpec{Region: "eu-central-1"} })
	proxmox := onPlatform(v1alpha1.ProviderProxmox, func(s *v1alpha1.ProviderConfigSpec) {
		s.Proxmox = &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example.com:8006"}
	})
	azure := onPlatform(v1alpha1.ProviderAzure, func(s *v1alpha1.ProviderConfigSpec) {
		s.Azure = &v1alpha1.AzureSpec{SubscriptionID: "sub", Endpoint: "https://arm.example.com", AuthorityHost: "https://login.example.com"}
	})
	for reason, tt := range map[string]struct {
		provider Provider
		platform v1alpha1.ProviderConfigSpec
		secret   map[string][]byte
		want     map[string]string // what is encoded stands here as <text>
	}{
		"a core needs none, and does not see the platform's": {
			coreProviders("v1.9.4")[0], harvester, secretData("NUTANIX_USER", "admin"), map[string]string{},
		},
		"harvester needs none": {infrastructureOf(v1alpha1.ProviderHarvester, Lines()[0]), harvester, secretData("kubeconfig", "x"), map[string]string{}},
		"nutanix wants a host, and text for a JSON document": {
			infrastructureOf(v1alpha1.ProviderNutanix, Lines()[0]), prism("https://prism.example.com", 9440),
			secretData("username", "admin\n", "password", `a"b\c<&`, "caBundle", "PEM"),
			map[string]string{
				"NUTANIX_ENDPOINT": "prism.example.com", "NUTANIX_PORT": "9440", "NUTANIX_INSECURE": "true",
				"NUTANIX_USER": "admin", "NUTANIX_PASSWORD": `a\"b\\c<&`, "NUTANIX_ADDITIONAL_TRUST_BUNDLE": "<PEM>",
			},
		},
		"the port of an address is not said twice": {
			infrastructureOf(v1alpha1.ProviderNutanix, Lines()[0]), prism("https://10.0.0.9:443/", 9440), secretData("username", "u", "password", "p"),
			map[string]string{
				"NUTANIX_ENDPOINT": "10.0.0.9", "NUTANIX_PORT": "443", "NUTANIX_INSECURE": "true", "NUTANIX_USER": "u", "NUTANIX_PASSWORD": "p",
			},
		},
		"a foreign platform names its variables itself": {
			abroad(v1alpha1.ProviderNutanix, ""), harvester,
			secretData("NUTANIX_ENDPOINT", "pc", "NUTANIX_USER", "u", "username", "ignored", "password", "p", "EXP_SOMETHING", "true", "note", "x"),
			map[string]string{"NUTANIX_ENDPOINT": "pc", "NUTANIX_USER": "u", "NUTANIX_PASSWORD": "p", "EXP_SOMETHING": "true"},
		},
		"proxmox takes a token": {
			infrastructureOf(v1alpha1.ProviderProxmox, Lines()[0]), proxmox, secretData("token", "root@pam!capi", "tokenSecret", "s"),
			map[string]string{"PROXMOX_URL": "https://pve.example.com:8006", "PROXMOX_TOKEN": "root@pam!capi", "PROXMOX_SECRET": "s"},
		},
		"proxmox takes no password, and fails with an address alone": {
			infrastructureOf(v1alpha1.ProviderProxmox, Lines()[0]), proxmox, secretData("username", "root@pam", "password", "p"), map[string]string{},
		},
		"gcp wants its key encoded": {
			infrastructureOf(v1alpha1.ProviderGCP, Lines()[0]), onPlatform(v1alpha1.ProviderGCP, nil), secretData("serviceAccountKey", "{\n}"),
			map[string]string{"GCP_B64ENCODED_CREDENTIALS": "<{\n}>"},
		},
		"gcp has its key under another name": {
			abroad(v1alpha1.ProviderGCP, "key.json"), harvester, secretData("key.json", "{}", "serviceAccountKey", "not this"),
			map[string]string{"GCP_B64ENCODED_CREDENTIALS": "<{}>"},
		},
		"aws wants a profile": {
			infrastructureOf(v1alpha1.ProviderAWS, Lines()[0]), aws, secretData("accessKeyID", "AK", "secretAccessKey", "SK", "sessionToken", "ST"),
			map[string]string{
				"AWS_B64ENCODED_CREDENTIALS": "<[default]\naws_access_key_id = AK\naws_secret_access_key = SK\naws_session_token = ST\nregion = eu-central-1\n>",
			},
		},
		"aws takes on a role": {
			abroad(v1alpha1.ProviderAWS, ""), harvester, secretData("accessKeyID", "AK", "secretAccessKey", "SK", "roleARN", "arn:aws:iam::1:role/r", "externalID", "x"),
			map[string]string{
				"AWS_B64ENCODED_CREDENTIALS": "<[default]\naws_access_key_id = AK\naws_secret_access_key = SK\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = default\nexternal_id = x\n>",
				"AWS_CONTROLLER_IAM_ROLE":    "arn:aws:iam::1:role/r",
			},
		},
		"aws has a profile of its own": {
			abroad(v1alpha1.ProviderAWS, "credentials"), harvester, secretData("credentials", "[default]\nx = y\n"),
			map[string]string{"AWS_B64ENCODED_CREDENTIALS": "<[default]\nx = y\n>"},
		},
		"aws finds the identity of its machines behind an empty profile": {
			infrastructureOf(v1alpha1.ProviderAWS, Lines()[0]), v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAWS}, nil,
			map[string]string{"AWS_B64ENCODED_CREDENTIALS": "<\n>"},
		},
		"aws has credentials": {
			abroad(v1alpha1.ProviderAWS, ""), harvester, secretData("AWS_B64ENCODED_CREDENTIALS", "eA=="),
			map[string]string{"AWS_B64ENCODED_CREDENTIALS": "eA=="},
		},
		"azure has a cloud of its own": {
			infrastructureOf(v1alpha1.ProviderAzure, Lines()[0]), azure, secretData("subscriptionID", "not this", "clientSecret", "s"),
			map[string]string{
				"AZURE_SUBSCRIPTION_ID_B64": "<sub>", "AZURE_AUTHORITY_HOST": "https://login.example.com",
				"AZURE_RESOURCE_MANAGER_ENDPOINT": "https://arm.example.com", "AZURE_RESOURCE_MANAGER_AUDIENCE": "https://arm.example.com",
			},
		},
		"azure abroad": {
			abroad(v1alpha1.ProviderAzure, ""), harvester, secretData("subscriptionID", "sub"), map[string]string{"AZURE_SUBSCRIPTION_ID_B64": "<sub>"},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			got, err := Variables(tt.provider, tt.platform, tt.secret)
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(tt.want)
			for name, value := range want {
				if text, ok := strings.CutPrefix(value, "<"); ok {
					want[name] = base64.StdEncoding.EncodeToString([]byte(strings.TrimSuffix(text, ">")))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVariablesThatAreMissing(t *testing.T) {
	harvester := onPlatform(v1alpha1.ProviderHarvester, nil)
	for reason, tt := range map[string]struct {
		provider Provider
		platform v1alpha1.ProviderConfigSpec
		secret   map[string][]byte
		want     string
	}{
		"own platform": {
			infrastructureOf(v1alpha1.ProviderNutanix, Lines()[0]), prism("https://prism.example.com", 9440), secretData("username", "hunter2"),
			`infrastructure provider nutanix needs NUTANIX_PASSWORD: put password into Secret "own" of the ProviderConfig, or NUTANIX_PASSWORD itself under that name`,
		},
		"foreign platform": {
			abroad(v1alpha1.ProviderNutanix, ""), harvester, secretData("username", "hunter2", "password", "hunter2"),
			`infrastructure provider nutanix needs NUTANIX_ENDPOINT: put it under that key into Secret "foreign" of spec.addons.capi.infrastructureProviders`,
		},
		"half of a login": {
			abroad(v1alpha1.ProviderAWS, ""), harvester, secretData("accessKeyID", "hunter2"),
			`infrastructure provider aws needs AWS_B64ENCODED_CREDENTIALS: put accessKeyID and secretAccessKey into Secret "foreign"`,
		},
		"an identity that gcp's provider cannot use": {
			infrastructureOf(v1alpha1.ProviderGCP, Lines()[0]), v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderGCP}, nil,
			"infrastructure provider gcp needs GCP_B64ENCODED_CREDENTIALS: it does not take the identity of the cloud's machines: name a Secret with serviceAccountKey as credentialsSecretRef of gcp",
		},
		"a key that is not there": {
			abroad(v1alpha1.ProviderGCP, "key.json"), harvester, secretData("serviceAccountKey", "hunter2"),
			`infrastructure provider gcp: Secret "foreign" of spec.addons.capi.infrastructureProviders has no key "key.json"`,
		},
		"one key where there are several": {
			abroad(v1alpha1.ProviderNutanix, "password"), harvester, secretData("password", "hunter2"),
			"infrastructure provider nutanix: its credentials have several keys, and the reference to",
		},
		"a line break": {
			abroad(v1alpha1.ProviderNutanix, ""), harvester, secretData("NUTANIX_ENDPOINT", "hunter2\nx: y", "username", "u", "password", "p"),
			"the value for NUTANIX_ENDPOINT in Secret \"foreign\" of spec.addons.capi.infrastructureProviders has a line break in it",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := Variables(tt.provider, tt.platform, tt.secret)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error is\n%v\nwithout\n%s", err, tt.want)
			}
		})
	}
}

// TestProxmoxIsNamedByItsServer: the provider adds the path of the API to what it gets.
func TestProxmoxIsNamedByItsServer(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://pve.example.com:8006":                "https://pve.example.com:8006",
		"https://pve.example.com":                     "https://pve.example.com:8006",
		"https://pve.example.com/api2/json/":          "https://pve.example.com:8006",
		"https://pve.example.com:443/pve/api2":        "https://pve.example.com:443/pve",
		"https://[fd00::1]/#v1:0:18:4":                "https://[fd00::1]:8006",
		"https://pve.example.com:8006/?console=shell": "https://pve.example.com:8006",
		"pve": "pve",
	} {
		if got := proxmoxURL(endpoint); got != want {
			t.Errorf("%s: %s, want %s", endpoint, got, want)
		}
	}
}
