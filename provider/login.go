// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Login is how users hand the credentials of a platform over. The zero value is a
// platform whose credentials have several keys and are not taken from this machine.
type Login struct {
	// Usage describes a file of credentials in a few words, for example "a kubeconfig";
	// empty means YAML with the keys of the Secret.
	Usage string
	// Key is the only key of the Secret, which spec.credentialsRef.key may rename; empty
	// means that there are several.
	Key string
	// Read returns the data of the Secret for the content of a file, where there are several
	// keys; nil means YAML with the keys of the Secret. Its error says what to do and
	// repeats nothing of the content.
	Read func(content []byte) (map[string][]byte, error)
	// Parse checks the content of a file of credentials that is the value of Key. Its
	// error says what to do and repeats nothing of the content.
	Parse func(content []byte) error
	// Ambient returns the credentials that the platform's own tools use on this machine,
	// as the value of Key, and says where they were found. Nil means that there are none
	// to be stored in a Secret.
	Ambient func() (content []byte, source string, err error)
	// AmbientUsage says where Ambient looks, for example "that of kubectl".
	AmbientUsage string
	// Fields are those of the ProviderConfig without which there is no connection, by their
	// paths, such as spec.aws.region.
	Fields []string
	// Place names where machines are created, for people: the server that the
	// credentials are sent to, the namespace, the region.
	Place func(*v1alpha1.ProviderConfig, Credentials) []string
}

// KeyOf returns the key of the Secret that holds the credentials of a ProviderConfig, if
// it is a single one.
func (l Login) KeyOf(config *v1alpha1.ProviderConfig) string {
	if ref := config.Spec.CredentialsRef; ref != nil && l.Key != "" {
		return cmp.Or(ref.Key, l.Key)
	}
	return l.Key
}

// FromFile returns the data of a ProviderConfig's Secret for the content of a file. Its
// error repeats nothing of the content.
func (l Login) FromFile(config *v1alpha1.ProviderConfig, content []byte) (map[string][]byte, error) {
	switch {
	case l.Key == "" && l.Read != nil:
		return l.Read(content)
	case l.Key == "":
		return ReadYAML(config.Spec.Provider, content)
	}
	if err := l.Parse(content); err != nil {
		return nil, err
	}
	return map[string][]byte{l.KeyOf(config): content}, nil
}

// ReadYAML returns the data of a Secret for YAML of the form key: value. Without known keys
// any are. Its error repeats no value.
func ReadYAML(t v1alpha1.ProviderType, content []byte, known ...string) (map[string][]byte, error) {
	var texts map[string]string
	if err := yaml.Unmarshal(content, &texts); err != nil || len(texts) == 0 {
		return nil, fmt.Errorf("not YAML of the form key: value; %s", keysListed(t))
	}
	data := map[string][]byte{}
	for name, text := range texts {
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, unknownKey(t, name)
		}
		data[name] = []byte(text)
	}
	return data, nil
}

// Keys are the keys of a Secret by the names that a file of credentials has for them. One
// without a key is not part of the Secret.
type Keys map[string]string

// Data returns the data of a Secret for the texts of a file. Its error repeats no text.
func (k Keys) Data(t v1alpha1.ProviderType, texts map[string]any) (map[string][]byte, error) {
	data := map[string][]byte{}
	for name, text := range texts {
		key, known := k[name]
		if !known {
			return nil, unknownKey(t, name)
		}
		if s, ok := text.(string); ok && key != "" && s != "" {
			data[key] = []byte(s)
		}
	}
	return data, nil
}

func unknownKey(t v1alpha1.ProviderType, name string) error {
	return fmt.Errorf("unknown key %q; %s", name, keysListed(t))
}

func keysListed(t v1alpha1.ProviderType) string {
	return fmt.Sprintf("docs/reference/providerconfig.md lists the keys of %s", t)
}

// FromAmbient returns the data of a ProviderConfig's Secret for the credentials of this
// machine, and where they were found.
func (l Login) FromAmbient(config *v1alpha1.ProviderConfig) (data map[string][]byte, source string, err error) {
	if l.Ambient == nil {
		return nil, "", ErrNoAmbient
	}
	content, source, err := l.Ambient()
	return map[string][]byte{l.KeyOf(config): content}, source, err
}

// ErrNoAmbient means that this machine has no credentials for the platform.
var ErrNoAmbient = errors.New("this machine has no credentials for the platform")

// Renamed returns the data of a Secret with the key that a ProviderConfig names.
func (l Login) Renamed(config *v1alpha1.ProviderConfig, data map[string][]byte) map[string][]byte {
	key := l.KeyOf(config)
	if value, ok := data[l.Key]; ok && key != l.Key {
		delete(data, l.Key)
		data[key] = value
	}
	return data
}
