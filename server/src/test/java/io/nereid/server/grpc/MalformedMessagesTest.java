package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.MethodDescriptor;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.RepositoryOptions.ControlMode;
import io.nereid.proto.GrpcService;
import io.nereid.server.LoggedLines;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.http.FrameClient;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages that are no protobuf, or do not decompress. */
class MalformedMessagesTest {

  /** A field whose end is missing. */
  private static final byte[] MALFORMED = {10, 100, 1};

  private static final List<String> OTHER_METHODS =
      List.of(
          "grpc.health.v1.Health/Check",
          "grpc.health.v1.Health/List",
          "grpc.health.v1.Health/Watch",
          "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
          "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");

  private final LoggedLines log = new LoggedLines();

  @AfterEach
  void nothingWasLogged() {
    log.close();
  }

  private static GrpcFixture server(GrpcOptions options) {
    return new GrpcFixture(RepositoryOptions.builder().explicit().build(), options);
  }

  /** All that the server serves. */
  private static List<String> methods() {
    List<String> methods = new ArrayList<>(OTHER_METHODS);
    for (MethodDescriptor method :
        GrpcService.getDescriptor().findServiceByName("GRPCInferenceService").getMethods()) {
      methods.add(InferenceService.NAME + "/" + method.getName());
    }
    return methods;
  }

  private static String status(
      FrameClient client, int stream, String method, byte[] message, String... fields)
      throws Exception {
    client.head(stream, false, "POST", "/" + method, fields);
    client.data(stream, message, true);
    FrameClient.Reply reply = client.await(stream).expect(200);
    return reply.fields.get("grpc-status") + " " + reply.fields.get("grpc-message");
  }

  @Test
  void areTheClientsFault() throws Exception {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String method : methods()) {
        if (!method.endsWith("ModelStreamInfer")) { // which tells it in a message
          String status =
              status(client, stream, method, GrpcFrames.message(MALFORMED), GrpcFrames.FIELDS);
          assertTrue(status.startsWith("3 "), method + ": " + status);
          stream += 2;
        }
      }
      GrpcFrames.call(client, stream, "ServerLive", new byte[0]).expect(200);
    }
  }

  /** Metadata may be forwarded to a model or another server, where such a value ends the field. */
  @Test
  void metadataWithLineEndsIsRefused() throws Exception {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String value : List.of("a\rb", "a\nb", "a\0b", "\r\nx: y")) {
        String[] fields = Arrays.copyOf(GrpcFrames.FIELDS, GrpcFrames.FIELDS.length + 2);
        fields[fields.length - 2] = "x-note";
        fields[fields.length - 1] = value;
        String status =
            status(
                client,
                stream,
                InferenceService.NAME + "/ServerLive",
                GrpcFrames.message(new byte[0]),
                fields);
        assertTrue(status.startsWith("3 "), status);
        assertTrue(status.contains("x-note"), status);
        stream += 2;
      }
      GrpcFrames.call(client, stream, "ServerLive", new byte[0]).expect(200);
    }
  }

  @Test
  void unauthorizedCallersAreTold(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("tokens"), "all-of-it\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withAccess(access));
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String method : methods()) {
        boolean open =
            method.startsWith("grpc.health") || method.matches(".*/(Server|Model)(Live|Ready)");
        String status =
            status(client, stream, method, GrpcFrames.message(MALFORMED), GrpcFrames.FIELDS);
        assertTrue(status.startsWith(open ? "3 " : "16 "), method + ": " + status);
        stream += 2;
      }
    }
  }

  private static byte[] compressed(byte[] bytes) {
    byte[] message = GrpcFrames.message(bytes);
    message[0] = 1;
    return message;
  }

  private static byte[] emptyMembers(int count) throws Exception {
    ByteArrayOutputStream one = new ByteArrayOutputStream();
    new GZIPOutputStream(one).close();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      one.writeTo(all);
    }
    return all.toByteArray();
  }

  @Test
  void aMessageThatDoesNotDecompressIsTheClientsFault() throws Exception {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String method : List.of("ServerMetadata", "ModelInfer", "RepositoryModelLoad")) {
        String path = InferenceService.NAME + "/" + method;
        for (byte[] wrong : new byte[][] {{}, {1, 2, 3}, {0x1f, (byte) 0x8b, 8, 0, 0}}) {
          String status = status(client, stream, path, compressed(wrong), GrpcFrames.GZIP_FIELDS);
          assertTrue(status.startsWith("3 "), method + ": " + status);
          stream += 2;
        }
      }
      String status =
          status(
              client,
              stream,
              InferenceService.NAME + "/ServerMetadata",
              compressed(emptyMembers(100_000)),
              GrpcFrames.GZIP_FIELDS);
      assertEquals("0 null", status);
    }
  }

  /** The files of a model need not be read where no client may load one. */
  @Test
  void loadsAreNotReadWhereNoneAreAllowed() throws Exception {
    RepositoryOptions none = RepositoryOptions.builder().controlMode(ControlMode.NONE).build();
    try (GrpcFixture server = new GrpcFixture(none);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      String status =
          status(
              client,
              1,
              InferenceService.NAME + "/RepositoryModelLoad",
              compressed(new byte[] {1, 2, 3}),
              GrpcFrames.GZIP_FIELDS);
      assertTrue(status.startsWith("14 explicit model load / unload is not allowed"), status);
    }
  }

  @Test
  void aBombIsRefused() throws Exception {
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
      gzip.write(new byte[] {10, (byte) 0x80, (byte) 0x80, (byte) 0x80, 32}); // a string of 64 MiB
      gzip.write(new byte[64 << 20]);
    }
    GrpcLimits limits = GrpcFixture.limits(1 << 20, 8192, 100);
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withLimits(limits));
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String method : List.of("ServerMetadata", "ModelMetadata", "ModelInfer")) {
        String status =
            status(
                client,
                stream,
                InferenceService.NAME + "/" + method,
                compressed(bomb.toByteArray()),
                GrpcFrames.GZIP_FIELDS);
        assertTrue(status.startsWith("8 "), method + ": " + status);
        stream += 2;
      }
    }
  }

  /** Whatever the limit is for tensors and models: these need no token. */
  @Test
  void messagesWithoutTensorsAreSmall() throws Exception {
    byte[] large = new byte[5 << 20];
    System.arraycopy(new byte[] {10, (byte) 0xFB, (byte) 0xFF, (byte) 0xBF, 2}, 0, large, 0, 5);
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(large);
    }
    try (GrpcFixture server = server(GrpcOptions.DEFAULT);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int stream = 1;
      for (String method : methods()) {
        if (method.endsWith("Infer") || method.endsWith("ModelLoad")) {
          continue;
        }
        boolean hasSettings =
            method.matches(".*/(Trace|Log)Settings?|.*Shared.*|.*/Repo.*|.*/Model(Con|Stat).*");
        String refused = "8 expected a message of at most " + (hasSettings ? 65536 : 4096) + " ";
        String status =
            status(
                client, stream, method, compressed(packed.toByteArray()), GrpcFrames.GZIP_FIELDS);
        assertTrue(status.startsWith(refused), method + ": " + status);
        status = status(client, stream + 2, method, GrpcFrames.message(large), GrpcFrames.FIELDS);
        assertTrue(status.startsWith(refused), method + ": " + status);
        stream += 4;
      }
    }
  }
}
