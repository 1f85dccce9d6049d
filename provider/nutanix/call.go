// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// served is where Prism Central serves its API v3.
	served = "/api/nutanix/v3"
	// groupsPath is where entities are queried that have no listing of their own.
	groupsPath = "/groups"
	// queryPath is where the use of categories is queried.
	queryPath = "/category/query"
	// mostAnswer bounds the answer to one request.
	mostAnswer = 64 << 20
)

// errForeign is the answer of a server that is no Prism Central.
var errForeign = errors.New("the response is not in the format of the API v3 of Prism Central")

// errUnread is an answer that says success and no more. What the request has changed is not
// known: it may have been carried out.
var errUnread = errors.New("the request was accepted, but the response cannot be read, so it is not known what was changed")

// caller sends requests to one Prism Central, each once.
type caller struct {
	http *http.Client
	base string
	// sign adds the credentials to a request.
	sign func(*http.Request)
}

// call sends a request and reads the answer into a value, if that is not nil.
func (c *caller) call(ctx context.Context, method, path string, body, into any) error {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode/100 != 2:
		return refusalOf(answer.StatusCode, content)
	case into != nil && json.Unmarshal(content, into) != nil:
		return unreadable(method, path)
	}
	return nil
}

// unreadable is the error of an accepted request whose answer cannot be read. Only one that
// changes nothing is refused for good: any other must not be sent again as if it had failed.
func unreadable(method, path string) error {
	if method == http.MethodGet || path == groupsPath || path == queryPath || strings.HasSuffix(path, "/list") {
		return errForeign
	}
	return errUnread
}

func (c *caller) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+served+path, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	c.sign(r)
	return r, nil
}

// refusal is an answer with an error.
type refusal struct {
	status int
	said   []message
}

// message is what Prism Central says about an error or an entity.
type message struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

// refusalOf reads an answer with an error. What is not in the form of Prism Central has no
// messages.
func refusalOf(status int, content []byte) *refusal {
	var body struct {
		MessageList []message       `json:"message_list"`
		Status      json.RawMessage `json:"status"`
	}
	var nested struct {
		MessageList []message `json:"message_list"`
	}
	if json.Unmarshal(content, &body) == nil && len(body.Status) > 0 {
		_ = json.Unmarshal(body.Status, &nested) // a text there says nothing more
	}
	return &refusal{status, append(body.MessageList, nested.MessageList...)}
}

// Error returns what Prism Central said.
func (r *refusal) Error() string {
	if text := texts(r.said); len(text) > 0 {
		return strings.Join(text, "; ")
	}
	return fmt.Sprintf("the response has status %d", r.status)
}

// texts returns the messages that say something.
func texts(all []message) (out []string) {
	for _, m := range all {
		if text := strings.TrimSpace(m.Message); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// status returns that of an answer with an error, 0 for any other error.
func status(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status
	}
	return 0
}

// gone reports whether Prism Central does not know the object that a call names.
func gone(err error) bool { return status(err) == http.StatusNotFound }

// kept reports whether Prism Central does not delete an object because it is used.
func kept(err error) bool {
	switch status(err) {
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
