// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/base64"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubevirtv1 "kubevirt.io/api/core/v1"
)

// inlineLimit is how many bytes KubeVirt takes as inline user or network data.
const inlineLimit = 2048

// data is user or network data of a cloud-init volume, in its three forms.
type data struct {
	kind, reference, several string // in KubeVirt's words
	field                    string
	plain, encoded           string
	inSecret                 bool
}

func (d data) sources() int {
	count := 0
	for _, set := range []bool{d.plain != "", d.encoded != "", d.inSecret} {
		if set {
			count++
		}
	}
	return count
}

func cloudInitCauses(at *field.Path, volumes []kubevirtv1.Volume) (causes []metav1.StatusCause) {
	for i, v := range volumes {
		at := at.Child("volumes").Index(i)
		if c := v.CloudInitNoCloud; c != nil {
			causes = append(causes, sourceCauses(at, "cloudInitNoCloud",
				user(c.UserData, c.UserDataBase64, c.UserDataSecretRef != nil), network(c.NetworkData, c.NetworkDataBase64, c.NetworkDataSecretRef != nil))...)
		}
		if c := v.CloudInitConfigDrive; c != nil {
			causes = append(causes, sourceCauses(at, "cloudInitConfigDrive",
				user(c.UserData, c.UserDataBase64, c.UserDataSecretRef != nil), network(c.NetworkData, c.NetworkDataBase64, c.NetworkDataSecretRef != nil))...)
		}
	}
	return causes
}

func user(plain, encoded string, inSecret bool) data {
	return data{"userdata", "UserDataSecretRef", "userdatasource", "userDataBase64", plain, encoded, inSecret}
}

func network(plain, encoded string, inSecret bool) data {
	return data{"networkdata", "NetworkDataSecretRef", "networkdata source", "networkDataBase64", plain, encoded, inSecret}
}

func sourceCauses(volume *field.Path, source string, all ...data) (causes []metav1.StatusCause) {
	at := volume.Child(source)
	sources := 0
	for _, d := range all {
		sources += d.sources()
		if d.sources() > 1 {
			causes = append(causes, wrong(at.String(), fmt.Sprintf("%s must have only one %s set.", at, d.several)))
			continue
		}
		causes = append(causes, d.inlineCauses(at, source)...)
	}
	if sources == 0 {
		causes = append(causes, wrong(at.String(), fmt.Sprintf("%s must have at least one userdatasource or one networkdatasource set.", at)))
	}
	return causes
}

// inlineCauses limits inline data, and its base64 form by what it decodes to.
func (d data) inlineCauses(at *field.Path, source string) []metav1.StatusCause {
	size := len(d.plain)
	if d.encoded != "" {
		decoded, err := base64.StdEncoding.DecodeString(d.encoded)
		if err != nil {
			where := at.Child(d.field).String()
			return []metav1.StatusCause{wrong(where, fmt.Sprintf("%s.%s.%s is not a valid base64 value.", where, source, d.field))}
		}
		size = len(decoded)
	}
	if size <= inlineLimit {
		return nil
	}
	return []metav1.StatusCause{wrong(at.String(), fmt.Sprintf("%s %s exceeds %d byte limit. Should use %s for larger data.", at, d.kind, inlineLimit, d.reference))}
}
