package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Metadata that becomes parameters. */
class ForwardedMetadataTest {

  private final AtomicReference<Map<String, Object>> seen = new AtomicReference<>();
  private GrpcFixture server;

  @BeforeEach
  void start() {
    Nereid nereid = Nereid.create();
    nereid.load(
        ModelSpec.builder("m")
            .backend(context ->
                batch -> {
                  seen.set(Map.copyOf(batch.request(0).parameters()));
                  batch.output("OUT", batch.input("IN"));
                })
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1)
            .build());
    server =
        new GrpcFixture(
            nereid,
            ServerState.builder(nereid).build(),
            GrpcOptions.DEFAULT.withForwarding(new HeaderForwarding("^(MY_.*|priority)")));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Channel with(String... fields) {
    Metadata metadata = new Metadata();
    for (int i = 0; i < fields.length; i += 2) {
      metadata.put(Metadata.Key.of(fields[i], Metadata.ASCII_STRING_MARSHALLER), fields[i + 1]);
    }
    metadata.put(Metadata.Key.of("my_bytes-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[3]);
    return ClientInterceptors.intercept(
        server.channel(), MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  private static CallOptions patient() {
    return CallOptions.DEFAULT.withDeadlineAfter(
        GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static ModelInferResponse infer(Channel channel) {
    return ClientCalls.blockingUnaryCall(
        channel,
        GrpcFixture.method(
            "ModelInfer",
            ModelInferRequest.getDefaultInstance(),
            ModelInferResponse.getDefaultInstance()),
        patient(),
        floats("m", 1).build());
  }

  @Test
  void aCallHasIt() {
    infer(with("my_a", "1", "other", "2", "my_b", "x", "my_b", "y"));
    assertEquals(Map.of("my_a", "1", "my_b", "y"), seen.get());
    infer(with());
    assertEquals(Map.of(), seen.get());
  }

  @Test
  void eachRequestOfAStreamHasIt() {
    ModelStreamInferResponse answer =
        ClientCalls.blockingServerStreamingCall(
                with("my_a", "1"),
                InferFixture.STREAM.toBuilder()
                    .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
                    .build(),
                patient(),
                floats("m", 1).build())
            .next();
    assertEquals("", answer.getErrorMessage());
    assertEquals(Map.of("my_a", "1"), seen.get());
  }

  @Test
  void namesThatTheServerKeepsForItselfAreRefused() {
    StatusRuntimeException failure =
        assertThrows(StatusRuntimeException.class, () -> infer(with("priority", "1")));
    assertEquals(Status.Code.INVALID_ARGUMENT, failure.getStatus().getCode());
    String description = failure.getStatus().getDescription();
    assertTrue(description.contains("Header 'priority' is reserved for Triton usage"), description);
    assertEquals(List.of(), List.copyOf(server.nereid().model("m").statistics().batches()));
  }
}
