// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// SPDXType is the media type of a bill of materials.
const SPDXType = "application/spdx+json"

type spdx struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      spdxCreation   `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []spdxRelation `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string         `json:"SPDXID"`
	Name      string         `json:"name"`
	Version   string         `json:"versionInfo"`
	Location  string         `json:"downloadLocation"`
	Analyzed  bool           `json:"filesAnalyzed"`
	Concluded string         `json:"licenseConcluded"`
	Declared  string         `json:"licenseDeclared"`
	Copyright string         `json:"copyrightText"`
	Source    string         `json:"sourceInfo,omitempty"`
	Checksums []spdxChecksum `json:"checksums,omitempty"`
	Refs      []spdxRef      `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	noAssertion = "NOASSERTION"
	mainID      = "SPDXRef-main"
	documentID  = "SPDXRef-DOCUMENT"
)

// SBOM returns the bill of materials of a Go executable as SPDX 2.3: the modules that its own
// build information names, and the Go release.
func SBOM(p Program, r Release) ([]byte, error) {
	info, err := buildinfo.ReadFile(p.Path)
	if err != nil {
		return nil, fmt.Errorf("bill of materials of %s: %w", p.Name, err)
	}
	executable, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, fmt.Errorf("bill of materials of %s: %w", p.Name, err)
	}
	sum := sha256.Sum256(executable)
	digest := hex.EncodeToString(sum[:])
	name := p.Name + "-" + p.Platform.Architecture
	document := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: documentID, Name: name,
		Namespace: source + "/spdx/" + name + "-" + digest,
		Creation:  spdxCreation{r.created().Format(time.RFC3339), []string{"Organization: The Butler Authors", "Tool: butleradm-" + r.Version}},
	}
	document.add(described(p, r, info, digest), "DESCRIBES", documentID)
	document.add(module(0, "stdlib", strings.TrimPrefix(info.GoVersion, "go"), ""), "DEPENDS_ON", mainID)
	for i, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		document.add(module(i+1, m.Path, m.Version, m.Sum), "DEPENDS_ON", mainID)
	}
	return json.MarshalIndent(document, "", " ")
}

func (d *spdx) add(p spdxPackage, relation, from string) {
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, spdxRelation{from, relation, p.ID})
}

func described(p Program, r Release, info *debug.BuildInfo, digest string) spdxPackage {
	return spdxPackage{
		ID: mainID, Name: p.Name, Version: r.Version, Location: "git+" + source + "@" + r.Commit,
		Concluded: "Apache-2.0", Declared: "Apache-2.0", Copyright: "The Butler Authors",
		Source:    "package " + info.Path,
		Checksums: []spdxChecksum{{"SHA256", digest}},
		Refs:      []spdxRef{purl(info.Main.Path, r.Version)},
	}
}

// module returns a module. Its license is not known to the executable; make licences reports it.
func module(number int, path, version, sum string) spdxPackage {
	p := spdxPackage{
		ID: fmt.Sprintf("SPDXRef-module-%d", number), Name: path, Version: version, Location: noAssertion,
		Concluded: noAssertion, Declared: noAssertion, Copyright: noAssertion,
		Refs: []spdxRef{purl(path, version)},
	}
	if sum != "" {
		p.Source = "go.sum " + sum
	}
	return p
}

func purl(path, version string) spdxRef {
	return spdxRef{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}
}
