// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// types are those of a method's messages.
type types struct{ in, out protoreflect.MessageType }

func (t types) request() proto.Message { return t.in.New().Interface() }
func (t types) answer() proto.Message  { return t.out.New().Interface() }

// typesOf finds the types of a method by its full name, /service/method.
func typesOf(method string) (t types, err error) {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return t, unknownMethod(method)
	}
	s, ok := d.(protoreflect.ServiceDescriptor)
	if !ok || s.Methods().ByName(protoreflect.Name(name)) == nil {
		return t, unknownMethod(method)
	}
	m := s.Methods().ByName(protoreflect.Name(name))
	if t.in, err = protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName()); err != nil {
		return t, err
	}
	t.out, err = protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	return t, err
}

func unknownMethod(method string) error {
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

// The numbers of the fields that all answers share: an answer has the messages of nodes,
// and each message has metadata.
const (
	messagesField = 1
	metadataField = 1
)

// annotate sets the metadata of all messages in an answer; an answer without messages gets
// one.
func annotate(answer protoreflect.Message, m *common.Metadata) {
	field := answer.Descriptor().Fields().ByNumber(messagesField)
	if field == nil || !field.IsList() {
		return
	}
	messages := answer.Mutable(field).List()
	if messages.Len() == 0 {
		messages.AppendMutable()
	}
	for i := range messages.Len() {
		setMetadata(messages.Get(i).Message(), m)
	}
}

func setMetadata(message protoreflect.Message, m *common.Metadata) {
	if field := message.Descriptor().Fields().ByNumber(metadataField); field != nil && field.Message() == m.ProtoReflect().Descriptor() {
		message.Set(field, protoreflect.ValueOfMessage(m.ProtoReflect()))
	}
}
