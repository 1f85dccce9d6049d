// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/internal/explain"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/starter"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// mostOffers is how many offers of a platform are listed.
const mostOffers = 12

// askForValues asks the user for each value; the platform may have offers for it.
func (a App) askForValues(ctx context.Context, p provider.Provider, f initFlags, data []byte, values []starter.Value, texts []string) ([]string, error) {
	fields, err := explain.Load()
	if err != nil {
		return nil, err
	}
	in, answers := bufio.NewReader(os.Stdin), append([]string(nil), texts...)
	var offers map[string][]provider.Offer
	for i, v := range values {
		if v.Kind == "ProviderConfig" && offers == nil && !slices.Contains(p.Login.Fields, v.Field()) {
			offers = a.offers(ctx, p, f, starter.Replace(data, values, answers))
		}
		answer, err := a.askForValue(ctx, in, fields, v, answers[i], offers[v.Field()])
		if err != nil {
			return nil, err
		}
		answers[i] = answer
	}
	return answers, nil
}

func (a App) askForValue(ctx context.Context, in *bufio.Reader, fields explain.Fields, v starter.Value, text string, offers []provider.Offer) (string, error) {
	fmt.Fprintf(a.Err, "\n%s.%s\n", v.Kind, v.Path)
	if found := fields.Find(v.Kind + "." + v.Field()); len(found) == 1 {
		fmt.Fprintln(a.Err, "  "+strings.Join(ui.Wrap(found[0].Summary(), ui.Columns-2), "\n  "))
	}
	for i, o := range offers[:min(len(offers), mostOffers)] {
		fmt.Fprintln(a.Err, strings.TrimRight(fmt.Sprintf("  %2d) %s  %s", i+1, o.Value, o.Note), " "))
	}
	if len(offers) > mostOffers {
		fmt.Fprintf(a.Err, "      and %d more\n", len(offers)-mostOffers)
	}
	fmt.Fprintf(a.Err, "  [%s]: ", text)
	answer, err := readLine(ctx, in)
	if err != nil {
		fmt.Fprintln(a.Err)
		return "", err
	}
	return chosen(answer, text, offers), nil
}

// readLine reads an answer; the end of the input ends the command.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type read struct {
		text string
		err  error
	}
	lines := make(chan read, 1)
	go func() {
		text, err := in.ReadString('\n')
		lines <- read{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-lines:
		if r.err != nil {
			return "", failure.Usagef("the questions were not answered; nothing was written")
		}
		return r.text, nil
	}
}

// chosen is what an answer means: nothing keeps the text, a number is one of the offers.
func chosen(answer, text string, offers []provider.Offer) string {
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(offers) {
		return offers[n-1].Value
	}
	if answer == "" {
		return text
	}
	return answer
}

// offers asks the platform what it has. Without credentials, or without an answer, the user
// writes the values.
func (a App) offers(ctx context.Context, p provider.Provider, f initFlags, data []byte) map[string][]provider.Offer {
	none := map[string][]provider.Offer{}
	if f.credentials == "" {
		return none
	}
	m, err := manifest.Parse("example", data)
	if err == nil {
		var found map[string][]provider.Offer
		if found, err = a.askForOffers(ctx, p, f, m); err == nil {
			return found
		}
	}
	fmt.Fprintf(a.Err, "\nnote: the platform offers nothing: %v\n", err)
	return none
}

func (a App) askForOffers(ctx context.Context, p provider.Provider, f initFlags, m *manifest.Manifest) (map[string][]provider.Offer, error) {
	secret, err := bootstrapFlags{credentials: f.credentials}.given(p.Login, m, a.Err)
	if err != nil {
		return nil, err
	}
	return operation.Offers(ctx, p, m.Provider, secret)
}
