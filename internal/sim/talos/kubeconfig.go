// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/internal/pki"
)

// Kubeconfig issues an administrator's kubeconfig and sends it as a compressed
// archive of one file. It needs no running API server.
func (s *machined) Kubeconfig(_ *emptypb.Empty, stream grpc.ServerStreamingServer[common.Data]) error {
	if !s.node.isControlPlane() {
		return onlyOnControlPlanes("kubeconfig")
	}
	kubeconfig, err := adminKubeconfig(s.node.config.Cluster())
	if err != nil {
		return err
	}
	archive, err := archived("kubeconfig", kubeconfig)
	if err != nil {
		return err
	}
	return stream.Send(&common.Data{Bytes: archive})
}

func adminKubeconfig(cluster config.ClusterConfig) ([]byte, error) {
	ca := cluster.IssuingCA()
	admin := cluster.AdminKubeconfig()
	pair, err := pki.CA{Cert: ca.Crt, Key: ca.Key}.Issue(pki.Request{
		CommonName:    admin.CommonName(),
		Organizations: []string{admin.CertOrganization()},
		Client:        true,
		Lifetime:      admin.CertLifetime(),
	})
	if err != nil {
		return nil, err
	}
	name := "admin@" + cluster.Name()
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			cluster.Name(): {Server: cluster.Endpoint().String(), CertificateAuthorityData: ca.Crt},
		},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: cluster.Name(), Namespace: "default", AuthInfo: name}},
		CurrentContext: name,
	})
}

func archived(name string, content []byte) ([]byte, error) {
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(compressed)
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o600})
	if err != nil {
		return nil, err
	}
	_, err = archive.Write(content)
	err = errors.Join(err, archive.Close(), compressed.Close())
	return buffer.Bytes(), err
}
