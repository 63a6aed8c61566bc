package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

/** The effects of Triton's flags, seen by clients of a server that was started with them. */
class TritonServeTest {

  private static final MethodDescriptor<ServerMetadataRequest, ServerMetadataResponse> METADATA =
      MethodDescriptor.<ServerMetadataRequest, ServerMetadataResponse>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("inference.GRPCInferenceService/ServerMetadata")
          .setRequestMarshaller(ProtoUtils.marshaller(ServerMetadataRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(ServerMetadataResponse.getDefaultInstance()))
          .build();

  /** Reads what a server prints until it is ready. */
  private static String awaitReady(BufferedReader printed) throws IOException {
    StringBuilder screen = new StringBuilder();
    String line = printed.readLine();
    while (line != null && !line.startsWith("Ready ")) {
      screen.append(line).append('\n');
      line = printed.readLine();
    }
    return screen.toString();
  }

  /** The host and the port at which a protocol is served. */
  private static String address(String screen, String protocol) {
    Matcher matcher =
        Pattern.compile("Serving " + protocol + " at (?:http://)?(\\S+)").matcher(screen);
    assertTrue(matcher.find(), screen);
    return matcher.group(1);
  }

  /** The body of a GET. */
  private static String get(HttpClient client, String address, String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + path)).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  @Test
  void namesAndSummariesAreThoseOfTheFlags() throws Exception {
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            ServeProcess.arguments(
                "--id=first",
                "--model-control-mode=explicit",
                "--load-model=identity_fp32",
                "--metrics-config=summary_latencies=true",
                "--metrics-config",
                "summary_quantiles=0.75:0.05",
                "--id=lab 7"));
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      String screen = awaitReady(printed);
      assertEquals(
          "lab 7",
          JSON.std.mapFrom(get(client, address(screen, "HTTP"), "/v2")).get("name"),
          screen);
      ManagedChannel channel =
          NettyChannelBuilder.forTarget(address(screen, "gRPC")).usePlaintext().build();
      try {
        ServerMetadataResponse metadata =
            ClientCalls.blockingUnaryCall(
                channel,
                METADATA,
                CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS),
                ServerMetadataRequest.getDefaultInstance());
        assertEquals("lab 7", metadata.getName());
      } finally {
        channel.shutdownNow();
      }
      String metrics = get(client, address(screen, "metrics").split("/")[0], "/metrics");
      assertTrue(
          metrics.contains(
              "nv_inference_compute_infer_summary_us{model=\"identity_fp32\","
                  + "version=\"1\",quantile=\"0.75\"} NaN"),
          metrics);
      assertFalse(screen.contains("warning"), screen);
    } finally {
      process.destroyForcibly();
    }
  }
}
