// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// record is the file with all that accounts have asked of the cluster.
var record string

// policy has every request of an account written down, once it is answered.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, Panic]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts"]
  - level: None
`

// recorded runs the tests with a cluster that keeps a record.
func recorded(m *testing.M) int {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	rules := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(rules, []byte(policy), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	record = filepath.Join(dir, "record.jsonl")
	o := plane.Options{
		Definitions: []*apiextensionsv1.CustomResourceDefinition{},
		Args:        []string{"--audit-policy-file=" + rules, "--audit-log-path=" + record, "--audit-log-mode=blocking-strict"},
	}
	return planetest.Run(m, o, func(p *plane.Plane) { api = p.Config() })
}

// request is a line of the record.
type request struct {
	Verb string
	User struct{ Username string }
	// ObjectRef is missing where the request is about no resource.
	ObjectRef      *struct{ Namespace, APIGroup, Resource, Subresource, Name string }
	ResponseStatus struct{ Code int }
}

// grant is what must have been granted for the request.
func (r request) grant() grant {
	_, account, _ := strings.Cut(strings.TrimPrefix(r.User.Username, "system:serviceaccount:"), ":")
	g := grant{Account: account, Namespace: r.ObjectRef.Namespace, Group: r.ObjectRef.APIGroup, Resource: r.ObjectRef.Resource, Name: r.ObjectRef.Name, Verb: r.Verb}
	if r.ObjectRef.Subresource != "" {
		g.Resource += "/" + r.ObjectRef.Subresource
	}
	return g
}

// asked returns what accounts have done, and what they were not allowed to.
func asked(t *testing.T) (done, forbidden map[grant]bool) {
	t.Helper()
	f, err := os.Open(record)
	must(t, err)
	defer f.Close()
	done, forbidden = map[grant]bool{}, map[grant]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		must(t, json.Unmarshal(lines.Bytes(), &r))
		switch {
		case r.ObjectRef == nil:
		case r.ResponseStatus.Code == http.StatusForbidden:
			forbidden[r.grant()] = true
		default:
			g := r.grant()
			done[g] = true
			if r.ResponseStatus.Code == http.StatusCreated {
				g.Verb = "create" // what is applied first
				done[g] = true
			}
		}
	}
	must(t, lines.Err())
	if len(done) == 0 {
		t.Fatal(errors.New("the record is empty"))
	}
	return done, forbidden
}
