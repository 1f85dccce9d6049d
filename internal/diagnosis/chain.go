// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Chain is the way from a symptom to its root cause.
type Chain struct {
	Cluster string `json:"cluster"`
	// Healthy says that nothing is wrong; then there is no cause.
	Healthy bool `json:"healthy"`
	// Links begin with the symptom; the last one has the cause.
	Links []Link `json:"links"`
	Cause Cause  `json:"cause,omitempty"`
	// Summary is the cause as a sentence.
	Summary string `json:"summary"`
	// Remedies are what to do, in this order.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Notices are what else should be known.
	Notices []string `json:"notices,omitempty"`
}

// Link is one object on the way, and what it says.
type Link struct {
	// Object is a kind and a name, such as MachineRequest/dev-cp-0.
	Object string `json:"object"`
	// State is its phase or state.
	State string `json:"state,omitempty"`
	// Reason is one word of its condition.
	Reason string `json:"reason,omitempty"`
	// Says is its message.
	Says string `json:"says,omitempty"`
	// Since is when it last changed.
	Since *time.Time `json:"since,omitempty"`
	// Evidence are events and other facts about it.
	Evidence []string `json:"evidence,omitempty"`
}

// Remedy is a change or a command that removes a cause.
type Remedy struct {
	Do      string `json:"do"`
	Command string `json:"command,omitempty"`
}

// walk is one search for a cause.
type walk struct {
	Facts
	chain Chain
}

// Explain returns the chain of a cluster. The looks are tried in order: each explains one
// sort of symptom completely, or finds nothing.
func Explain(f Facts) Chain {
	w := &walk{Facts: f, chain: Chain{Cluster: f.Cluster}}
	looks := []func(*walk) bool{
		(*walk).atSilence, (*walk).atAbsence, (*walk).atHold,
		(*walk).atBootstrap, (*walk).atReadyNodes, (*walk).atPlatform, (*walk).atRequests, (*walk).atControllers, (*walk).atTenants, (*walk).atOrphans,
	}
	for _, look := range looks {
		if look(w) {
			w.notice()
			return w.chain
		}
	}
	return w.healthy()
}

func (w *walk) healthy() Chain {
	w.chain.Healthy, w.chain.Summary = true, w.Cluster+" is "+string(v1alpha1.BootstrapReady)+"; nothing is wrong"
	w.notice()
	return w.chain
}

// link adds a link to the chain.
func (w *walk) link(l Link) { w.chain.Links = append(w.chain.Links, l) }

// linkTo adds an object with its condition Ready.
func (w *walk) linkTo(o Object) {
	c := o.Ready()
	l := Link{Object: o.ID(), State: o.Phase, Reason: c.Reason, Says: c.Message, Evidence: w.warnings(o.ID(), c.Message)}
	if o.Changed != nil {
		l.Since = &o.Changed.Time
	}
	w.link(l)
}

// end sets the root cause, which the last link has.
func (w *walk) end(c Cause, summary string, more ...Remedy) bool {
	w.chain.Cause, w.chain.Summary = c, summary
	w.chain.Remedies = append(w.chain.Remedies, more...)
	if w.idle() {
		w.chain.Remedies = append(w.chain.Remedies, Remedy{"no bootstrap runs at present: continue it afterwards", w.Commands.Bootstrap})
	}
	return true
}

// idle reports whether no controller works on a cluster that is not Ready.
func (w *walk) idle() bool {
	return w.Plane.Holder == "" && !w.Plane.SelfHosted && w.Bootstrap != nil && w.Bootstrap.Phase != string(v1alpha1.BootstrapReady)
}

// warnings are the last events about an object that say something else than its condition.
func (w *walk) warnings(id, known string) (out []string) {
	for _, e := range w.Events {
		if e.Object == id && e.Note != known {
			out = append(out, e.Reason+": "+e.Note)
		}
	}
	const most = 3
	return out[max(0, len(out)-most):]
}
