package io.nereid.server.grpc;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.protobuf.ProtoServiceDescriptorSupplier;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import java.util.ArrayList;
import java.util.List;

/** The methods of a service that a proto file describes, and what serves each. */
final class ServiceMethods {

  private final com.google.protobuf.Descriptors.ServiceDescriptor service;
  private final List<ServerMethodDefinition<?, ?>> described = new ArrayList<>();
  private final List<ServerMethodDefinition<?, ?>> own = new ArrayList<>();

  ServiceMethods(com.google.protobuf.Descriptors.ServiceDescriptor service) {
    this.service = service;
  }

  /** A method that is answered on a virtual thread. */
  <Q extends Message, R extends Message> ServiceMethods add(
      String name, Q request, R reply, UnaryCalls.Answer<Q, R> answer) {
    described.add(
        ServerMethodDefinition.create(
            method(name, MethodType.UNARY, request, reply), UnaryCalls.of(answer)));
    return this;
  }

  /** The same for a method that wants to know who asks. */
  <Q extends Message, R extends Message> ServiceMethods addForClient(
      String name, Q request, R reply, UnaryCalls.ClientAnswer<Q, R> answer) {
    described.add(
        ServerMethodDefinition.create(
            method(name, MethodType.UNARY, request, reply), UnaryCalls.ofClient(answer)));
    return this;
  }

  /** A method with any number of replies, which is served on the event loop. */
  <Q extends Message, R extends Message> ServiceMethods addStreaming(
      String name, Q request, R reply, ServerCalls.ServerStreamingMethod<Q, R> serving) {
    described.add(
        ServerMethodDefinition.create(
            method(name, MethodType.SERVER_STREAMING, request, reply),
            ServerCalls.asyncServerStreamingCall(serving)));
    return this;
  }

  /** A method that serves itself, and reads its messages itself. */
  ServiceMethods add(ServerMethodDefinition<?, ?> method) {
    own.add(method);
    return this;
  }

  private <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String name, MethodType type, Q request, R reply) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(service.getFullName(), name))
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(reply))
        .build();
  }

  ServerServiceDefinition definition() {
    List<ServerMethodDefinition<?, ?>> all = new ArrayList<>(own);
    all.addAll(MessageReading.of(definition(described)).getMethods());
    return definition(all);
  }

  private ServerServiceDefinition definition(List<ServerMethodDefinition<?, ?>> methods) {
    ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(service.getFullName())
            .setSchemaDescriptor(new Schema(service));
    methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
    ServerServiceDefinition.Builder definition =
        ServerServiceDefinition.builder(descriptor.build());
    methods.forEach(definition::addMethod);
    return definition.build();
  }

  /** Tells reflection where the service is described. */
  private record Schema(com.google.protobuf.Descriptors.ServiceDescriptor service)
      implements ProtoServiceDescriptorSupplier {

    @Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return service;
    }

    @Override
    public FileDescriptor getFileDescriptor() {
      return service.getFile();
    }
  }
}
