package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.input;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.http.RaggedBatchHttpTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The same over gRPC. */
class RaggedBatchGrpcTest {

  @Test
  void eachClientGetsItsSumAndItsPart() throws Exception {
    try (InferFixture server = new InferFixture();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      server.nereid().load(RaggedBatchHttpTest.sums().build());
      List<Future<ModelInferResponse>> replies = new ArrayList<>();
      float[][] values = {{1, 2, 3}, {4, 5, 6, 7}, {8}};
      for (float[] one : values) {
        replies.add(clients.submit(() -> infer(server, one)));
      }
      float[] sums = {6, 22, 8};
      for (int i = 0; i < values.length; i++) {
        ModelInferResponse reply = replies.get(i).get();
        assertEquals(List.of("SUMS", "DOUBLED"), names(reply));
        assertEquals(raw(sums[i]), reply.getRawOutputContents(0));
        assertEquals(List.of(1L, (long) values[i].length), reply.getOutputs(1).getShapeList());
        for (int j = 0; j < values[i].length; j++) {
          values[i][j] *= 2;
        }
        assertEquals(raw(values[i]), reply.getRawOutputContents(1));
      }
      assertEquals(1, server.nereid().model("sums").statistics().executionCount());
    }
  }

  private static ByteString raw(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      bytes.putFloat(value);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  private static List<String> names(ModelInferResponse reply) {
    return reply.getOutputsList().stream()
        .map(ModelInferResponse.InferOutputTensor::getName)
        .toList();
  }

  private static ModelInferResponse infer(InferFixture server, float[] values) {
    return server.infer(
        ModelInferRequest.newBuilder()
            .setModelName("sums")
            .addInputs(input("VALUES", "FP32", 1, values.length))
            .addRawInputContents(raw(values)));
  }
}
