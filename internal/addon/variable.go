// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Variables returns the values of the variables in a provider's components, from the
// platform's ProviderConfig and from the Secret with the credentials. A key of
// the Secret that is named like a variable is that variable, whatever else is
// known: a platform that is not the cluster's own has no ProviderConfig, and
// says so where its endpoint is. Errors do not quote values.
func Variables(p Provider, platform v1alpha1.ProviderConfigSpec, credentials map[string][]byte) (map[string]string, error) {
	if p.Platform == "" {
		return map[string]string{}, nil
	}
	l := login{p, platform, credentials}
	if err := l.checkKey(); err != nil {
		return nil, err
	}
	out := l.derived()
	maps.Copy(out, l.named())
	maps.DeleteFunc(out, func(_, value string) bool { return value == "" })
	return out, l.check(out)
}

// login is what is known about a platform.
type login struct {
	Provider
	platform    v1alpha1.ProviderConfigSpec
	credentials map[string][]byte
}

// own reports whether the platform is that of the cluster.
func (l login) own() bool { return l.platform.Provider == l.Platform }

// ref names the Secret; nil means that the cloud's machines have an identity.
func (l login) ref() *v1alpha1.SecretReference {
	if l.Credentials != nil || !l.own() {
		return l.Credentials
	}
	return l.platform.CredentialsRef
}

// key is the one that the reference names, or the usual one.
func (l login) key(usual string) string {
	if ref := l.ref(); ref != nil {
		return cmp.Or(ref.Key, usual)
	}
	return usual
}

// get is a credential without the line end that editors put behind it.
func (l login) get(key string) string { return strings.TrimRight(string(l.credentials[key]), "\r\n") }

// checkKey refuses a single key where credentials have several.
func (l login) checkKey() error {
	ref := l.ref()
	if ref == nil || ref.Key == "" {
		return nil
	}
	switch l.Platform {
	case v1alpha1.ProviderHarvester, v1alpha1.ProviderGCP, v1alpha1.ProviderAWS:
		if len(l.credentials[ref.Key]) == 0 {
			return fmt.Errorf("infrastructure provider %s: %s has no key %q", l.Platform, l.secret(), ref.Key)
		}
		return nil
	case v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox, v1alpha1.ProviderAzure:
	}
	return fmt.Errorf("infrastructure provider %s: its credentials have several keys, and the reference to %s names one: leave the key out", l.Platform, l.secret())
}

// derived are the variables that follow from what this project calls things.
func (l login) derived() map[string]string {
	switch l.Platform {
	case v1alpha1.ProviderNutanix:
		return l.nutanix()
	case v1alpha1.ProviderProxmox:
		return l.proxmox()
	case v1alpha1.ProviderGCP:
		return map[string]string{"GCP_B64ENCODED_CREDENTIALS": base64Of(l.get(l.key(v1alpha1.KeyServiceAccountKey)))}
	case v1alpha1.ProviderAWS:
		return map[string]string{"AWS_B64ENCODED_CREDENTIALS": base64Of(l.awsProfile()), "AWS_CONTROLLER_IAM_ROLE": l.get(v1alpha1.KeyRoleARN)}
	case v1alpha1.ProviderAzure:
		return l.azure()
	case v1alpha1.ProviderHarvester:
		// Each tenant's cluster names its credentials itself.
	}
	return map[string]string{}
}

// nutanix wants the bare name of a host. Its user and password are put between
// the quotes of a JSON document.
func (l login) nutanix() map[string]string {
	out := map[string]string{
		"NUTANIX_USER":                    jsonText(l.get(v1alpha1.KeyUsername)),
		"NUTANIX_PASSWORD":                jsonText(l.get(v1alpha1.KeyPassword)),
		"NUTANIX_ADDITIONAL_TRUST_BUNDLE": base64Of(l.get(v1alpha1.KeyCABundle)),
	}
	n := l.platform.Nutanix
	if !l.own() || n == nil {
		return out
	}
	out["NUTANIX_INSECURE"] = strconv.FormatBool(n.Insecure)
	if u, err := url.Parse(n.Endpoint); err == nil {
		out["NUTANIX_ENDPOINT"] = u.Hostname()
		out["NUTANIX_PORT"] = u.Port()
	}
	if n.Port != 0 && out["NUTANIX_PORT"] == "" {
		out["NUTANIX_PORT"] = strconv.Itoa(int(n.Port))
	}
	return out
}

// proxmox takes a token only. Without one it starts without a login, and each
// tenant's cluster names its own; an address alone would make it fail. It needs the
// port, and adds the path of the API itself.
func (l login) proxmox() map[string]string {
	token, secret := l.get(v1alpha1.KeyToken), l.get(v1alpha1.KeyTokenSecret)
	if !l.own() || l.platform.Proxmox == nil || token == "" || secret == "" {
		return map[string]string{"PROXMOX_TOKEN": token, "PROXMOX_SECRET": secret}
	}
	return map[string]string{"PROXMOX_URL": proxmoxURL(l.platform.Proxmox.Endpoint), "PROXMOX_TOKEN": token, "PROXMOX_SECRET": secret}
}

// proxmoxURL is the server of an endpoint, which may lack the port and have the path
// of the API.
func proxmoxURL(endpoint string) string {
	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil || u.Hostname() == "" {
		return endpoint // the driver refuses it
	}
	if u.Port() == "" {
		u.Host += ":8006"
	}
	path := strings.TrimRight(u.Path, "/")
	for _, suffix := range []string{"/json", "/api2"} {
		path = strings.TrimRight(strings.TrimSuffix(path, suffix), "/")
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String()
}

// awsProfile is a file of profiles: the one of the reference's key, or one made
// of the keys. A cluster whose machines have an identity gets an empty one, and
// the provider looks further.
func (l login) awsProfile() string {
	ref := l.ref()
	switch {
	case ref == nil && l.own():
		return "\n"
	case ref != nil && ref.Key != "":
		return l.get(ref.Key) + "\n"
	}
	region := ""
	if l.own() && l.platform.AWS != nil {
		region = l.platform.AWS.Region
	}
	return awsProfile(region, l.credentials)
}

// azure has its credentials with each tenant's cluster.
func (l login) azure() map[string]string {
	subscription := l.get(v1alpha1.KeySubscriptionID)
	a := l.platform.Azure
	if !l.own() || a == nil {
		return map[string]string{"AZURE_SUBSCRIPTION_ID_B64": base64Of(subscription)}
	}
	return map[string]string{
		"AZURE_SUBSCRIPTION_ID_B64":       base64Of(cmp.Or(a.SubscriptionID, subscription)),
		"AZURE_AUTHORITY_HOST":            a.AuthorityHost,
		"AZURE_RESOURCE_MANAGER_ENDPOINT": a.Endpoint,
		"AZURE_RESOURCE_MANAGER_AUDIENCE": a.Endpoint,
	}
}

// named are the keys of the Secret that are written like variables.
func (l login) named() map[string]string {
	like := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	out := map[string]string{}
	for key := range l.credentials {
		if like.MatchString(key) {
			out[key] = l.get(key)
		}
	}
	return out
}

// check refuses what would break the components, and misses what they need.
func (l login) check(variables map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if strings.ContainsAny(variables[name], "\r\n") {
			return fmt.Errorf("infrastructure provider %s: the value for %s in %s has a line break in it: correct it there", l.Platform, name, l.secret())
		}
	}
	for _, v := range l.Variables {
		if v.Required && variables[v.Name] == "" {
			return fmt.Errorf("infrastructure provider %s needs %s: %s", l.Platform, v.Name, l.remedy(v.Name))
		}
	}
	return nil
}

// remedy says where a variable comes from.
func (l login) remedy(name string) string {
	usual := map[string]string{
		"NUTANIX_USER": v1alpha1.KeyUsername, "NUTANIX_PASSWORD": v1alpha1.KeyPassword,
		"GCP_B64ENCODED_CREDENTIALS": v1alpha1.KeyServiceAccountKey, "AWS_B64ENCODED_CREDENTIALS": v1alpha1.KeyAccessKeyID + " and " + v1alpha1.KeySecretAccessKey,
	}[name]
	switch {
	case l.ref() == nil:
		return fmt.Sprintf("it does not take the identity of the cloud's machines: name a Secret with %s as credentialsSecretRef of %s in spec.addons.capi.infrastructureProviders", usual, l.Platform)
	case usual == "":
		return fmt.Sprintf("put it under that key into %s", l.secret())
	}
	return fmt.Sprintf("put %s into %s, or %s itself under that name", usual, l.secret(), name)
}

// secret says which one holds the credentials, for people.
func (l login) secret() string {
	ref := l.ref()
	switch ref {
	case nil:
		return "the Secret with its credentials"
	case l.Credentials:
		return fmt.Sprintf("Secret %q of spec.addons.capi.infrastructureProviders", ref.Name)
	}
	return fmt.Sprintf("Secret %q of the ProviderConfig", ref.Name)
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// jsonText is what stands between the quotes of a JSON string.
func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
