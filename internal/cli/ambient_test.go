// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// ambientCanary is a value that no rehearsal may come across.
const ambientCanary = "canary-of-the-environment"

// ambientFiles are where the platforms' SDKs look for credentials in a home directory.
func ambientFiles() []string {
	return []string{
		".kube/config", ".aws/credentials", ".aws/config", ".aws/sso/cache/token.json",
		".config/gcloud/application_default_credentials.json", ".config/gcloud/configurations/config_default",
		".azure/msal_token_cache.json", ".azure/azureProfile.json", ".nutanix/credentials", ".config/proxmox/credentials",
	}
}

// watchAmbient puts canaries where SDKs look for credentials: in the environment, in a
// home directory and at metadata addresses. At the end of the test none must have been
// read, asked or kept in dir.
func watchAmbient(t *testing.T, dir string) {
	t.Helper()
	home, asked := t.TempDir(), atomic.Bool{}
	metadata := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	opened := watchFiles(t, home)
	t.Cleanup(func() {
		metadata.Close()
		if asked.Load() {
			t.Error("the rehearsal asked a metadata address for credentials")
		}
		if names := opened(); len(names) > 0 {
			t.Errorf("the rehearsal opened files with credentials: %v", names)
		}
		if kept := keeping(t, dir, ambientCanary); len(kept) > 0 {
			t.Errorf("the rehearsal kept credentials of the environment in %v", kept)
		}
	})
	host := strings.TrimPrefix(metadata.URL, "http://")
	for name, value := range map[string]string{
		"HOME": home, ownKubeconfig: filepath.Join(home, ".kube", "config"),
		"GOOGLE_APPLICATION_CREDENTIALS":    filepath.Join(home, ".config", "gcloud", "application_default_credentials.json"),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL, "AWS_CONTAINER_CREDENTIALS_FULL_URI": metadata.URL, "AWS_ENDPOINT_URL": metadata.URL,
		"GCE_METADATA_HOST": host, "IDENTITY_ENDPOINT": metadata.URL, "MSI_ENDPOINT": metadata.URL,
	} {
		t.Setenv(name, value)
	}
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID",
		"AZURE_SUBSCRIPTION_ID", "NUTANIX_USER", "NUTANIX_PASSWORD", "PROXMOX_TOKEN", "PROXMOX_SECRET", "GOOGLE_OAUTH_ACCESS_TOKEN",
	} {
		t.Setenv(name, ambientCanary)
	}
}

// watchFiles creates the files and returns a function that names those that were opened.
func watchFiles(t *testing.T, home string) func() []string {
	t.Helper()
	watcher, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ambientFiles() {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(ambientCanary), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range ambientFiles() {
		if _, err := unix.InotifyAddWatch(watcher, filepath.Join(home, filepath.Dir(name)), unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	return func() []string {
		defer unix.Close(watcher)
		return openedIn(watcher)
	}
}

// openedIn reads the names of the files that a watcher has seen opened.
func openedIn(watcher int) (names []string) {
	buffer := make([]byte, 64<<10)
	n, err := unix.Read(watcher, buffer)
	if err != nil {
		return nil // nothing happened
	}
	for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
		length := int(rest[12]) | int(rest[13])<<8
		name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length]), "\x00")
		if name != "" {
			names = append(names, name)
		}
		rest = rest[unix.SizeofInotifyEvent+length:]
	}
	return names
}

// keeping names the files below dir that hold a text.
func keeping(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAFileWithCredentialsThatIsOpenedIsSeen(t *testing.T) {
	home := t.TempDir()
	opened := watchFiles(t, home)
	if _, err := os.ReadFile(filepath.Join(home, ".aws", "credentials")); err != nil {
		t.Fatal(err)
	}
	if names := opened(); len(names) != 1 || names[0] != "credentials" {
		t.Errorf("seen %v", names)
	}
}
