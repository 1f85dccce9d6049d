// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
	"github.com/butlerdotdev/butler/internal/sim/aws/signature"
	"github.com/butlerdotdev/butler/internal/sim/front"
)

// The services, by their name in a credential scope.
const (
	ec2           = "ec2"
	elb           = "elasticloadbalancing"
	sts           = "sts"
	iam           = "iam"
	servicequotas = "servicequotas"
	pricing       = "pricing"
)

// speaksJSON reports whether a service takes and answers JSON.
func speaksJSON(service string) bool { return service == servicequotas || service == pricing }

const jsonType = "application/x-amz-json-1.1"

// namespace is that of the answers of a service.
func namespace(service string) string {
	return map[string]string{
		ec2: "http://ec2.amazonaws.com/doc/2016-11-15/",
		elb: "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/",
		sts: "https://sts.amazonaws.com/doc/2011-06-15/",
		iam: "https://iam.amazonaws.com/doc/2010-05-08/",
	}[service]
}

// request is a call of an operation, as far as it can be read without checking it.
type request struct {
	service, operation, version string
	params                      model.Params
	body                        []byte
	signature                   signature.Signature
	signed                      error // why it has no signature
}

// read reads a request. The body can still be read afterwards.
func read(r *http.Request) request {
	q := request{body: front.Body(r), params: model.Params{}}
	q.signature, q.signed = signature.Parse(r)
	q.service = q.signature.Service
	if errors.Is(q.signed, signature.ErrMissing) {
		q.service, _, _ = strings.Cut(r.Host, ".")
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		var api string
		api, q.operation, _ = strings.Cut(target, ".")
		q.service = servicequotas
		if api == "AWSPriceListService" {
			q.service = pricing
		}
		q.readJSON()
		return q
	}
	q.readForm(r.URL.Query())
	form, err := url.ParseQuery(string(q.body))
	if err == nil {
		q.readForm(form)
	}
	if q.operation == "AssumeRoleWithWebIdentity" {
		q.service = sts // it is not signed, so that it has no scope
	}
	return q
}

func (q *request) readForm(form url.Values) {
	for key, values := range form {
		switch key {
		case "Action":
			q.operation = values[0]
		case "Version":
			q.version = values[0]
		default:
			q.params[key] = values[0]
		}
	}
}

func (q *request) readJSON() {
	var body map[string]any
	if json.Unmarshal(q.body, &body) != nil {
		return
	}
	for key, value := range body {
		q.readValue(key, value)
	}
}

// readValue adds a value, and the parts of a list or a structure with their paths.
func (q *request) readValue(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, part := range v {
			q.readValue(path+"."+key, part)
		}
	case []any:
		for i, part := range v {
			q.readValue(fmt.Sprintf("%s.%d", path, i+1), part)
		}
	case float64:
		q.params[path] = fmt.Sprint(int64(v))
	default:
		q.params[path] = fmt.Sprint(v)
	}
}

// answer writes the answer to a request that was carried out.
func (q request) answer(w http.ResponseWriter, result fields) {
	var b bytes.Buffer
	switch {
	case speaksJSON(q.service):
		write(w, http.StatusOK, jsonType, encodeJSON(result))
		return
	case q.service == ec2:
		fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<%sResponse xmlns="%s">`, q.operation, namespace(ec2))
		encode(&b, "requestId", requestID())
		for i := 0; i+1 < len(result); i += 2 {
			encode(&b, fmt.Sprint(result[i]), result[i+1])
		}
	default:
		fmt.Fprintf(&b, `<%sResponse xmlns="%s">`, q.operation, namespace(q.service))
		if result == nil {
			result = fields{}
		}
		encode(&b, q.operation+"Result", result)
		encode(&b, "ResponseMetadata", fields{"RequestId", requestID()})
	}
	fmt.Fprintf(&b, "</%sResponse>", q.operation)
	write(w, http.StatusOK, "text/xml;charset=UTF-8", b.Bytes())
}
