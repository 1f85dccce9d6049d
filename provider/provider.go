// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package provider is the contract between the generic reconcilers and the
// drivers of infrastructure platforms. A driver has no memory, never waits for
// its platform, and sends every byte through the transport it is given.
package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Provider is a platform type and how to connect to it.
type Provider struct {
	// Type is what ProviderConfigs of this provider say in spec.provider.
	Type v1alpha1.ProviderType
	// Connect returns a live connection, or an Error. Callers use Open. It asks the platform at
	// least once, so that wrong credentials and a wrong endpoint show here.
	Connect func(context.Context, Config) (Platform, error)
	// Login is how users hand the credentials over.
	Login Login
}

// Open connects. Without credentials it does so only if the ambient ones are allowed.
func (p Provider) Open(ctx context.Context, c Config) (Platform, error) {
	if c.Credentials.Empty() && !c.Ambient {
		return Platform{}, Unauthorized.New(fmt.Sprintf("connect to %s of ProviderConfig %q", p.Type, c.Name), ReasonCredentialsMissing,
			errors.New("there are no credentials, and those of the environment may not be used"), "set spec.credentialsRef")
	}
	return p.Connect(ctx, c)
}

// Config is all that a connection may use.
type Config struct {
	*v1alpha1.ProviderConfig
	// Credentials of the platform; empty where the ambient ones are meant.
	Credentials Credentials
	// Ambient allows the driver to look for credentials by itself if there are none: in
	// the environment, in the home directory, at metadata addresses. Nothing of that is
	// read in a rehearsal.
	Ambient bool
	// Transport carries every byte that the driver sends.
	Transport Transport
}

// Lifetime is how long credentials are accepted. The zero value is without an end.
type Lifetime struct {
	// Temporary says that they end by themselves and that the driver cannot renew them, as
	// with a session token.
	Temporary bool
	// Ends is when temporary ones end; zero means that it is not known.
	Ends time.Time
}

// Platform is a live connection. A nil field is a capability that the platform
// lacks. All of it may be used from several goroutines at once.
type Platform struct {
	Machines      Machines
	LoadBalancers LoadBalancers
	Preflight     Preflight
	// Identity identifies the installation that the connection reaches, whatever
	// the credentials are. What is recorded with a request is compared with it
	// before anything is created, released or reported as lost. Empty means that the
	// credentials may not read it; then nothing is compared.
	Identity Identity
	// Identify reads the identity again, of the installation that answers over this
	// connection by now: its address may have moved. It reads as little as distinguishes
	// two installations. Nil means that none other can answer.
	Identify func(context.Context) (Identity, error)
	// Changes pushes a reference for every machine that may have changed, until
	// the context ends; then the channel is closed. Nil means that the platform
	// must be polled. While changes cannot be seen it pushes the zero MachineRef
	// every few seconds: all machines have to be looked at. What changes between two
	// watches is pushed when the second one begins: a machine at rest is not polled
	// but every few minutes.
	Changes func(context.Context) <-chan MachineRef
	// ObserveAll returns every machine that carries an owner, each as Observe returns it,
	// at a cost that does not grow with every machine. A platform without Changes is
	// polled with it. A machine that it lacks need not be Absent: Observe decides. Nil
	// means that a listing does not have all that Observe returns.
	ObserveAll func(context.Context) ([]Machine, error)
	// Plan chooses what a Create of this machine, which has its owner, asks for beside its
	// spec, such as the zone, and returns it as a record of at most 1 KiB without secrets. Create gets the
	// record in MachineSpec.Attempt once it is stored; it is used again until the platform
	// has definitely refused it, so that a call whose answer was lost can be repeated
	// as it was. Nil means that a Create has nothing to record.
	Plan func(ctx context.Context, s MachineSpec, last Attempt) (record string, err error)
	// Choose returns what the first Create of a machine would ask for, as far as that does
	// not depend on what else happens on the platform. It creates nothing. Nil means that
	// the driver chooses nothing.
	Choose func(context.Context, MachineSpec) (Choice, error)
	// Offers returns what fields of the ProviderConfig may refer to, by their paths, such as
	// spec.harvester.imageName. What may not be read is left out. Nil means that the driver
	// offers nothing.
	Offers func(context.Context) (map[string][]Offer, error)
	// Prices asks the platform's own price service for the list prices of a basket. What the
	// service does not have is in the answer as not known; nothing is guessed. It ends with
	// its context, and creates nothing. Nil means that the platform has no price service.
	Prices func(context.Context, Basket) (PriceList, error)
	// Adopt tags a machine that another program created, and its disks, as if Create
	// had created them for ref. The machine must have ref's name and this ID, else it is
	// Invalid; one of another owner is a Conflict. To repeat it changes nothing. Nil
	// means that machines of other programs cannot be adopted.
	Adopt func(ctx context.Context, ref MachineRef, id string) error
	// Lifetime is that of the credentials of the connection.
	Lifetime Lifetime
	// Settle is how long after a Create the platform may still report Absent.
	// Zero means that what was created is visible at once.
	Settle time.Duration
	// Unrepeatable says that the platform does not recognise a Create that is repeated.
	// Without an answer it is then repeated only when the first call can have no effect
	// any more, not as soon as Settle has passed.
	Unrepeatable bool
	// Close releases the connection. Nil means that there is nothing to release.
	Close func()
}
