package io.nereid.cli;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import io.nereid.client.ClientOptions;
import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.RetryPolicy;
import io.nereid.client.SharedMemory;
import io.nereid.client.Tensor;
import io.nereid.client.TlsOptions;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * The deeds of clients in a run of faults. Each deed makes a connection of its own, presents a
 * token, and checks what it gets. Any number of threads attempt the harmless ones at a time, and
 * one thread the others.
 */
final class FaultDeeds implements AutoCloseable {

  /** A client's requests; an AssertionError says that an answer is not the right one. */
  private interface Deed {
    void with(InferenceClient client) throws IOException;
  }

  private static final int PATIENCE_MS = 60_000;
  private static final long RENEWAL_NS = TimeUnit.SECONDS.toNanos(10);
  private static final String TOKEN = "every-turn";

  private final Path directory;
  private final boolean tls;
  private final Identity authority = TestCertificates.authority("faults");
  private final Executor threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Deed> deeds = new LinkedHashMap<>();
  private final List<String> renewals;
  private final List<String> harmless;
  private final Map<String, String> addresses = new LinkedHashMap<>();
  private final AtomicInteger number = new AtomicInteger();
  private final SharedMemory memory =
      SharedMemory.create("/nereid-faults-" + ProcessHandle.current().pid(), 1024);

  /**
   * Writes the files that the server reads.
   *
   * @param tls whether the server encrypts HTTP and gRPC
   */
  FaultDeeds(Path directory, boolean tls) throws IOException, GeneralSecurityException {
    this.directory = directory;
    this.tls = tls;
    authority.writeCertificate(directory.resolve("authority.pem"));
    writeFiles("first-turn");
    for (String protocol : List.of("HTTP ", "gRPC ")) { // first: the others need what they load
      deeds.put(protocol + "load", client -> load(client, "digits"));
      deeds.put(protocol + "load isolated", client -> load(client, "simple"));
      deeds.put(protocol + "shared memory", this::share);
    }
    int loads = deeds.size();
    deeds.put("HTTP renewal", client -> renew("HTTP"));
    deeds.put("gRPC renewal", client -> renew("gRPC"));
    int alone = deeds.size();
    for (String protocol : List.of("HTTP ", "gRPC ")) {
      deeds.put(protocol + "small", client -> infer(client, 16));
      deeds.put(protocol + "large", client -> infer(client, 150_528));
      deeds.put(protocol + "isolated", this::sum);
    }
    deeds.put("HTTP metrics", client -> metrics());
    deeds.put("gRPC stream", FaultDeeds::stream);
    renewals = List.copyOf(deeds.keySet()).subList(loads, alone);
    harmless = List.copyOf(deeds.keySet()).subList(alone, deeds.size());
  }

  /** The options of a server that reads the files. */
  List<String> serverArguments() {
    List<String> arguments = new ArrayList<>(List.of("--auth-token-file", path("tokens")));
    if (tls) {
      arguments.addAll(List.of("--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")));
    }
    return arguments;
  }

  private String path(String file) {
    return directory.resolve(file).toString();
  }

  /**
   * Notes where the server is, by a line that it prints: "Serving HTTP at http://127.0.0.1:8000".
   */
  void noteAddress(String line) {
    String[] words = line.split(" ");
    String grpc = tls ? "grpcs://" : "grpc://";
    addresses.put(words[1], words[3].contains("//") ? words[3] : grpc + words[3]);
  }

  /** The names of all deeds. */
  Set<String> names() {
    return deeds.keySet();
  }

  /** Deeds that wait for the server's next look at its files, which takes a second. */
  List<String> renewals() {
    return renewals;
  }

  /** Deeds that do not get in each other's way. */
  List<String> harmless() {
    return harmless;
  }

  /** Returns the clean error, or "" for an answer. All else is an AssertionError. */
  String attempt(String deed) {
    CompletableFuture<Void> done =
        CompletableFuture.runAsync(
            () -> {
              try (InferenceClient client =
                  connect(deed.substring(0, 4), TOKEN, directory.resolve("authority.pem"))) {
                deeds.get(deed).with(client);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            threads);
    try {
      done.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
      return "";
    } catch (ExecutionException e) {
      return switch (e.getCause()) {
        case InferenceException failure -> failure.code() + " " + failure.getMessage();
        case UncheckedIOException failure -> failure.getMessage();
        case Throwable other -> throw new AssertionError(other.toString(), e);
      };
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError("no answer within " + PATIENCE_MS + " ms", e);
    }
  }

  private InferenceClient connect(String protocol, String token, Path trusted) {
    return InferenceClient.connect(
        addresses.get(protocol),
        ClientOptions.builder()
            .retry(RetryPolicy.NONE)
            .header("authorization", "Bearer " + token)
            .tls(TlsOptions.DEFAULT.trusting(trusted))
            .build());
  }

  // ---- The files that the server reads again ---------------------------------------------------

  /** Has the server's files hold one more token, and another certificate with its key. */
  private void writeFiles(String token) throws IOException {
    try {
      Identity identity = TestCertificates.signed(token, authority);
      Path made = directory.resolve("new");
      Files.move(identity.writeKey(made), directory.resolve("key.pem"), REPLACE_EXISTING);
      identity.writeCertificate(directory.resolve("newest.pem"));
      Files.move(identity.writeCertificate(made), directory.resolve("cert.pem"), REPLACE_EXISTING);
      Files.writeString(made, TOKEN + "\n" + token);
      Files.move(made, directory.resolve("tokens"), REPLACE_EXISTING);
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  /**
   * Replaces the files; soon afterwards the server knows the token and presents the certificate.
   */
  private void renew(String protocol) throws IOException {
    String token = "turn-" + number.getAndIncrement();
    writeFiles(token);
    long startNs = System.nanoTime();
    while (true) {
      try (InferenceClient client = connect(protocol, token, directory.resolve("newest.pem"))) {
        client.serverMetadata();
        return;
      } catch (InferenceException e) {
        if (System.nanoTime() - startNs > RENEWAL_NS) {
          throw e;
        }
        LockSupport.parkNanos(RENEWAL_NS / 100);
      }
    }
  }

  // ---- Deeds -----------------------------------------------------------------------------------

  private static void expect(Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new AssertionError("expected " + expected + ", got " + found);
    }
  }

  private static void load(InferenceClient client, String model) {
    client.unloadModel(model); // else it would stay as it is
    client.loadModel(model);
  }

  /** A request whose elements no other has. */
  private void infer(InferenceClient client, int count) {
    int own = number.getAndIncrement();
    String id = "request " + own;
    float[] elements = new float[count];
    for (int i = 0; i < count; i++) {
      elements[i] = own + i % 1000 / 1024f;
    }
    try (InferResponse response =
        client.infer(
            InferRequest.builder("identity_fp32")
                .id(id)
                .input("INPUT0", Tensor.ofFloats(elements, 1, count))
                .build())) {
      expect(id, response.id().orElse("none"));
      if (!Arrays.equals(elements, response.output("OUTPUT0").toFloatArray())) {
        throw new AssertionError("other elements came back");
      }
    }
  }

  private static void stream(InferenceClient client) {
    try (InferStream stream = client.openStream()) {
      stream.send(
          InferRequest.builder("repeat")
              .input("IN", Tensor.ofInts(new int[] {4, 5, 6}, 3))
              .input("DELAY", Tensor.of(DataType.UINT32, ByteBuffer.allocate(12), 3))
              .input("WAIT", Tensor.of(DataType.UINT32, ByteBuffer.allocate(4), 1))
              .build());
      stream.finish();
      List<Integer> came = new ArrayList<>();
      for (InferResponse next = stream.next(); next != null; next = stream.next()) {
        came.add(next.output("OUT").toIntArray()[0]);
        next.close();
      }
      expect(List.of(4, 5, 6), came);
    }
  }

  private void metrics() throws IOException {
    try (var in = URI.create(addresses.get("metrics") + "/metrics").toURL().openStream()) {
      expect(true, new String(in.readAllBytes()).contains("nv_inference_request_success"));
    }
  }

  /** A sum that a process of its own computes. */
  private void sum(InferenceClient client) {
    int first = number.getAndIncrement();
    Tensor tensor = Tensor.ofInts(IntStream.range(first, first + 16).toArray(), 1, 16);
    try (InferResponse response =
        client.infer(
            InferRequest.builder("simple")
                .input("INPUT0", tensor)
                .input("INPUT1", tensor)
                .build())) {
      int[] sums = response.output("OUTPUT0").toIntArray();
      expect(2 * first, sums[0]);
      expect(2 * (first + 15), sums[15]);
    }
  }

  /** Infers in a segment of this process. */
  private void share(InferenceClient client) {
    client.unregisterSharedMemory(memory.name()); // left by a deed that failed
    client.registerSharedMemory(memory);
    SharedMemory.Slice in = memory.slice(0, 64);
    SharedMemory.Slice out = memory.slice(512, 64);
    in.byteBuffer().putInt(0, number.incrementAndGet());
    out.byteBuffer().putInt(0, 0);
    client
        .infer(
            InferRequest.builder("identity_fp32")
                .input("INPUT0", Tensor.ofSharedMemory(DataType.FP32, in, 1, 16))
                .output("OUTPUT0", out)
                .build())
        .close();
    expect(in.byteBuffer().getInt(0), out.byteBuffer().getInt(0));
    client.unregisterSharedMemory(memory.name());
  }

  @Override
  public void close() {
    memory.close();
  }
}
