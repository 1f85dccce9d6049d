// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// operation is a call that was accepted and ends later.
type operation struct {
	ID      string
	Target  string // ID of the resource
	Removes bool   // the result of the operation is that the resource is gone
	Status  string
	Failure *failure `json:",omitempty"`
	Began   time.Time
	Ended   time.Time `json:",omitzero"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

const inProgress = "InProgress"

// operationsKept is how long an operation can be asked for after its end.
const operationsKept = time.Hour

// newOperation begins an operation and names it in the header of the answer.
func (c *call) newOperation(r *record, removes bool, h http.Header) *operation {
	o := &operation{ID: newUUID(), Target: r.top().ID, Removes: removes, Status: inProgress, Began: c.now}
	c.st.operations.Put(o.ID, o)
	r.Operation = o.ID
	id, _ := parseID(o.Target)
	where, results := "operations", "operationResults"
	if id.provider == "Microsoft.Compute" {
		results = "operations"
	}
	if strings.EqualFold(id.kind(), "Microsoft.Compute/disks") {
		where, results = "DiskOperations", "DiskOperations"
	}
	base := fmt.Sprintf("%s/subscriptions/%s/providers/%s/locations/%s/", c.baseURL(), c.seed.Subscription, id.provider, c.seed.Location)
	version := "?api-version=" + c.query.Get("api-version")
	h.Set("Azure-AsyncOperation", base+where+"/"+o.ID+version)
	if removes || c.method == http.MethodPost || where == "DiskOperations" {
		location := base + results + "/" + o.ID + version
		if results == where {
			location += "&monitor=true"
		}
		h.Set("Location", location)
	}
	h.Set("Retry-After", fmt.Sprint(c.retryAfter()))
	return o
}

// retryAfter is after how many seconds the caller should ask again.
func (a *Azure) retryAfter() int {
	if a.Options.Create == 0 {
		return 0
	}
	return 10
}

// baseURL is where the caller has reached the API.
func (c *call) baseURL() string {
	if c.http.TLS == nil {
		return "http://" + c.http.Host
	}
	return "https://" + c.http.Host
}

// end ends an operation; nil: it has succeeded.
func (a *Azure) end(o *operation, f *failure) {
	o.Status, o.Failure, o.Ended = succeeded, f, time.Now()
	if f != nil {
		o.Status = failed
	}
	a.st.operations.Put(o.ID, o)
	a.Later(operationsKept, func() { a.st.operations.Remove(o.ID) })
}

// begin begins the operation of a PUT.
func (c *call) begin(k *kind, r *record, got *answer) {
	o := c.newOperation(r, false, got.header)
	a, delay := c.Azure, c.takes(k)
	fails := c.failsPart(r)
	a.Later(delay, func() {
		switch {
		case !a.st.exists(r):
			a.end(o, &failure{"NotFound", "The resource was deleted."})
		case fails && *r.state() == creating:
			*r.state() = failed
			a.st.put(r)
			a.end(o, &failure{"InternalServerError", "An error occurred."})
		case k.finish != nil:
			k.finish(a, r, o)
		default:
			if r.Operation == o.ID { // a later call has its own operation
				a.settle(r)
			}
			a.end(o, nil)
		}
	})
}

// failsPart reports whether the seed has the creation of a network resource fail.
func (c *call) failsPart(r *record) bool {
	ends := func(end string) bool { return strings.HasSuffix(r.top().Name, end) }
	return *r.state() == creating && strings.HasPrefix(r.top().Type, "Microsoft.Network/") && slices.ContainsFunc(c.seed.FailedParts, ends)
}

// settle has a resource reach its final state.
func (a *Azure) settle(r *record) {
	*r.state() = succeeded
	a.st.put(r)
}

// takes is how long the operations of a kind take.
func (a *Azure) takes(k *kind) time.Duration {
	if k.name == vmKind {
		return 2 * a.Options.Create
	}
	return a.Options.Create / 2
}

// serveOperation answers for operations. The monitor answers as the call would have if it
// had waited: with its result.
func (c *call) serveOperation(id string, monitor bool) (answer, error) {
	o := c.st.operations.ByID[id]
	if o == nil {
		return answer{}, refuse(http.StatusNotFound, "OperationNotFound", "The operation '%s' was not found.", id)
	}
	if monitor {
		return c.result(o)
	}
	body := map[string]any{"name": o.ID, "status": o.Status, "startTime": o.Began.UTC().Format(time.RFC3339Nano)}
	if !o.Ended.IsZero() {
		body["endTime"] = o.Ended.UTC().Format(time.RFC3339Nano)
	}
	if o.Failure != nil {
		body["error"] = o.Failure
	}
	got := answer{status: http.StatusOK, body: body, header: http.Header{}}
	if o.Status == inProgress {
		got.header.Set("Retry-After", fmt.Sprint(c.retryAfter()))
	}
	return got, nil
}

func (c *call) result(o *operation) (answer, error) {
	switch {
	case o.Status == inProgress:
		return answer{status: http.StatusAccepted, header: http.Header{
			"Location": {c.baseURL() + c.http.URL.RequestURI()}, "Retry-After": {fmt.Sprint(c.retryAfter())},
		}}, nil
	case o.Failure != nil:
		return answer{}, conflicts(o.Failure.Code, "%s", o.Failure.Message)
	case o.Removes:
		return answer{status: http.StatusOK}, nil
	}
	r := c.st.resources.ByID[keyOf(o.Target)]
	if r == nil {
		return answer{status: http.StatusNoContent}, nil
	}
	return ok(c.shown(c.kinds[strings.ToLower(r.top().Type)], r))
}

// remove deletes a resource.
func (c *call) remove(k *kind, r *record) (answer, error) {
	if err := c.checkConditions(&kind{hasETag: k.hasETag}, r); err != nil {
		return answer{}, err
	}
	if k.removable != nil {
		if err := k.removable(c, r); err != nil {
			return answer{}, err
		}
	}
	if k.synchronous {
		c.drop(k, r)
		return answer{status: http.StatusOK}, nil
	}
	got := answer{status: http.StatusAccepted, header: http.Header{}}
	o := c.newOperation(r, true, got.header)
	*r.state() = deleting
	c.st.put(r)
	c.auditResource(r)
	a := c.Azure
	if k.name == vmKind {
		a.removeVM(r, o)
		return got, nil
	}
	a.Later(a.takes(k), func() {
		if a.st.exists(r) {
			a.drop(k, r)
		}
		a.end(o, nil)
	})
	return got, nil
}

// drop removes a resource at once, with its effects.
func (a *Azure) drop(k *kind, r *record) {
	a.st.remove(r)
	if k.end != nil {
		k.end(a, r)
	}
	a.auditGone(r)
}
