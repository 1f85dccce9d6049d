// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestAFileOfCredentialsBecomesTheDataOfTheSecret(t *testing.T) {
	one := Login{Key: "kubeconfig", Parse: func(content []byte) error {
		if string(content) == "bad" {
			return errors.New("not a kubeconfig")
		}
		return nil
	}}
	renamed := &v1alpha1.ProviderConfig{}
	renamed.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "s", Key: "mine"}
	for reason, c := range map[string]struct {
		login   Login
		config  *v1alpha1.ProviderConfig
		content string
		want    map[string][]byte
		err     string
	}{
		"a single key":         {one, &v1alpha1.ProviderConfig{}, "x", map[string][]byte{"kubeconfig": []byte("x")}, ""},
		"a key that is named":  {one, renamed, "x", map[string][]byte{"mine": []byte("x")}, ""},
		"what is not accepted": {one, renamed, "bad", nil, "not a kubeconfig"},
		"several keys":         {Login{}, renamed, "user: a\npassword: b\n", map[string][]byte{"user": []byte("a"), "password": []byte("b")}, ""},
		"no keys":              {Login{}, renamed, "secret canary", nil, "key: value"},
	} {
		got, err := c.login.FromFile(c.config, []byte(c.content))
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v\n%s", reason, err, diff)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error repeats the content: %v", reason, err)
		}
	}
	if got := one.Renamed(renamed, map[string][]byte{"kubeconfig": nil, "endpoint": nil}); len(got) != 2 || got["mine"] != nil || cmp.Diff(got, map[string][]byte{"mine": nil, "endpoint": nil}) != "" {
		t.Errorf("renamed: %v", got)
	}
}

func TestOnlyKnownKeysAreRead(t *testing.T) {
	const content = "user: a\npassword: canary\n"
	if got, err := ReadYAML("x", []byte(content), "user", "password"); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	keys := Keys{"user": "name", "version": ""}
	if got, err := keys.Data("x", map[string]any{"user": "a", "version": 1}); err != nil || cmp.Diff(got, map[string][]byte{"name": []byte("a")}) != "" {
		t.Errorf("%v, %v", got, err)
	}
	_, inYAML := ReadYAML("x", []byte(content), "user")
	_, inTexts := keys.Data("x", map[string]any{"password": "canary"})
	for _, err := range []error{inYAML, inTexts} {
		if err == nil || !strings.Contains(err.Error(), `unknown key "password"`) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
	}
}

func TestAPlatformWithoutAmbientCredentialsSaysSo(t *testing.T) {
	if _, _, err := (Login{}).FromAmbient(&v1alpha1.ProviderConfig{}); !errors.Is(err, ErrNoAmbient) {
		t.Errorf("%v", err)
	}
}
