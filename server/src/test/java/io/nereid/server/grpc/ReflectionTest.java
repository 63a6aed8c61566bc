package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.nereid.Nereid;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.ServerState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Finds the methods the way tools without the proto files do, and calls each of them. */
class ReflectionTest {

  /** What is answered with UNIMPLEMENTED by a method that is there. */
  private static final Set<String> UNSUPPORTED =
      CudaDriver.isPresent() ? Set.of() : Set.of("CudaSharedMemoryRegister");

  private static ServerReflectionResponse ask(GrpcFixture server, ServerReflectionRequest request)
      throws Exception {
    CompletableFuture<ServerReflectionResponse> reply = new CompletableFuture<>();
    StreamObserver<ServerReflectionRequest> stream =
        ServerReflectionGrpc.newStub(server.channel())
            .serverReflectionInfo(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ServerReflectionResponse value) {
                    reply.complete(value);
                  }

                  @Override
                  public void onError(Throwable failure) {
                    reply.completeExceptionally(failure);
                  }

                  @Override
                  public void onCompleted() {}
                });
    stream.onNext(request);
    try {
      return reply.get(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      stream.onCompleted();
    }
  }

  /** The file that describes a symbol, built of nothing but what the server sends. */
  private static FileDescriptor file(GrpcFixture server, String symbol) throws Exception {
    ServerReflectionResponse reply =
        ask(server, ServerReflectionRequest.newBuilder().setFileContainingSymbol(symbol).build());
    Map<String, FileDescriptorProto> files = new HashMap<>();
    String wanted = null;
    for (ByteString bytes : reply.getFileDescriptorResponse().getFileDescriptorProtoList()) {
      FileDescriptorProto file = parse(bytes);
      files.put(file.getName(), file);
      if (file.getServiceCount() > 0) {
        wanted = file.getName();
      }
    }
    return build(wanted, files);
  }

  private static FileDescriptorProto parse(ByteString bytes) throws InvalidProtocolBufferException {
    return FileDescriptorProto.parseFrom(bytes);
  }

  private static FileDescriptor build(String name, Map<String, FileDescriptorProto> files)
      throws DescriptorValidationException {
    FileDescriptorProto file = files.get(name);
    List<FileDescriptor> imports = new ArrayList<>();
    for (String imported : file.getDependencyList()) {
      imports.add(build(imported, files));
    }
    return FileDescriptor.buildFrom(file, imports.toArray(FileDescriptor[]::new));
  }

  /** Calls a method with an empty request, and gives the status it ends with. */
  private static Status call(GrpcFixture server, MethodDescriptor method) {
    DynamicMessage request = DynamicMessage.getDefaultInstance(method.getInputType());
    DynamicMessage reply = DynamicMessage.getDefaultInstance(method.getOutputType());
    boolean streams = method.isServerStreaming();
    MethodType type =
        method.isClientStreaming()
            ? MethodType.BIDI_STREAMING
            : streams ? MethodType.SERVER_STREAMING : MethodType.UNARY;
    var descriptor =
        GrpcFixture.method(
            method.getService().getFullName() + "/" + method.getName(), type, request, reply);
    CallOptions options =
        CallOptions.DEFAULT.withDeadlineAfter(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    try {
      if (method.isClientStreaming()) {
        CompletableFuture<Status> end = new CompletableFuture<>();
        ClientCalls.asyncBidiStreamingCall(
                server.channel().newCall(descriptor, options), new EndObserver(end))
            .onCompleted();
        return end.join();
      }
      if (streams) {
        ClientCalls.blockingServerStreamingCall(server.channel(), descriptor, options, request)
            .next();
      } else {
        ClientCalls.blockingUnaryCall(server.channel(), descriptor, options, request);
      }
      return Status.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus();
    }
  }

  private record EndObserver(CompletableFuture<Status> end)
      implements StreamObserver<DynamicMessage> {
    @Override
    public void onNext(DynamicMessage value) {}

    @Override
    public void onError(Throwable failure) {
      end.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }
  }

  /** With what has to be turned on. */
  private static GrpcFixture withEverything(LogSettings log) {
    Nereid nereid = Nereid.create();
    ServerState state =
        ServerState.builder(nereid).allowClientShm(true).log(Optional.of(log)).build();
    return new GrpcFixture(nereid, state, GrpcOptions.DEFAULT);
  }

  @Test
  void everyMethodIsServed() throws Exception {
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty());
        GrpcFixture server = withEverything(log)) {
      Set<String> services = new TreeSet<>();
      ask(server, ServerReflectionRequest.newBuilder().setListServices("*").build())
          .getListServicesResponse()
          .getServiceList()
          .stream()
          .map(ServiceResponse::getName)
          .forEach(services::add);
      assertEquals(
          Set.of(
              "grpc.health.v1.Health",
              "grpc.reflection.v1.ServerReflection",
              "grpc.reflection.v1alpha.ServerReflection",
              "inference.GRPCInferenceService"),
          services);
      int methods = 0;
      for (String name : services) {
        ServiceDescriptor service =
            file(server, name).findServiceByName(name.substring(name.lastIndexOf('.') + 1));
        for (MethodDescriptor method : service.getMethods()) {
          Status status = call(server, method);
          boolean supported = !UNSUPPORTED.contains(method.getName());
          assertEquals(
              !supported,
              status.getCode() == Status.Code.UNIMPLEMENTED,
              method.getFullName() + ": " + status);
          assertFalse(
              String.valueOf(status.getDescription()).contains("Method not found"),
              method.getFullName() + ": " + status);
          methods++;
        }
      }
      assertEquals(20 + 3 + 2, methods);
    }
  }

  @Test
  void missingSymbolsAreTold() throws Exception {
    try (GrpcFixture server = new GrpcFixture(RepositoryOptions.builder().explicit().build())) {
      ServerReflectionResponse reply =
          ask(server, ServerReflectionRequest.newBuilder().setFileContainingSymbol("no").build());
      assertTrue(reply.hasErrorResponse(), reply.toString());
      assertEquals(Status.Code.NOT_FOUND.value(), reply.getErrorResponse().getErrorCode());
    }
  }
}
