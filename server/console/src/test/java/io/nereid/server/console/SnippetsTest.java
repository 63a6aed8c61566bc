package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The texts that people paste: each is run as it is shown. The command grpcurl stands for a program
 * that reads JSON as protobuf's own reader does; that reader and a channel take its place.
 */
@Tag("slow")
class SnippetsTest {

  /** Requests in JSON, text, bytes behind the JSON, a sequence, a stream, a hostile name. */
  private static final List<String> MODELS =
      List.of("simple", "words", "wide", "halves", "voice", "repeat", ConsoleModels.HOSTILE.get(1));

  /** Keeps every byte of what a program prints. */
  private static final Charset ENCODING = StandardCharsets.ISO_8859_1;

  private static final String WORDS = "it's \"42\"\n\u00e4 \\ $HOME %s";

  private static final String FIND_SAVE =
      "const b = [...document.querySelectorAll('button')].find(b => b.textContent === 'Save"
          + " request.bin');";

  @TempDir static Path folder;
  private static BrowsedConsole console;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException {
    Path models = Files.createDirectory(folder.resolve("models"));
    ConsoleModels.copyBundled(models, "simple", "voice", "repeat");
    ConsoleModels.row(models, "words", "TEXT", "STRING", "");
    ConsoleModels.row(models, "wide", "VALUES", "INT64", "");
    ConsoleModels.row(models, "halves", "VALUES", "FP16", "");
    ConsoleModels.echo(models, ConsoleModels.HOSTILE.get(1));
    console = BrowsedConsole.start(models);
    browser = console.browser();
    browser.saveTo(folder);
  }

  @AfterAll
  static void stop() {
    if (console != null) {
      console.close();
    }
  }

  /** Opens the form of a model, fills it in, and has the request saved where it has bytes. */
  private static void open(String model) throws Exception {
    Files.deleteIfExists(folder.resolve("request.bin"));
    String name = URLEncoder.encode(model, StandardCharsets.UTF_8).replace("+", "%20");
    browser.open(console.page("#/models/" + name + "/try"));
    browser.awaitText(".code pre", "curl");
    switch (model) {
      case "simple" -> {
        fill("[data-input=INPUT0]", "7 ".repeat(16));
        fill("[data-input=INPUT1]", "35 ".repeat(16));
      }
      case "words" -> fill("textarea", WORDS);
      case "wide" -> fill("textarea", "42, -9007199254740993");
      case "halves" -> fill("textarea", "42, -0.5");
      case "repeat" -> {
        fill("[data-input=IN]", "42 43");
        fill("[data-input=DELAY]", "0 0");
        fill("[data-input=WAIT]", "0");
      }
      case "voice" -> fill("textarea", "0.42 ".repeat(320));
      default -> fill("textarea", "42");
    }
    if (Boolean.TRUE.equals(browser.run(FIND_SAVE + "if (b) b.click(); return Boolean(b)"))) {
      while (!Files.exists(folder.resolve("request.bin"))) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
  }

  /** Puts all of a text into a field at once, as pasting does. */
  private static void fill(String selector, String text) {
    browser.run(
        "const area = document.querySelector(arguments[0]); area.value = arguments[1];"
            + "area.dispatchEvent(new Event('input', {bubbles: true}))",
        selector,
        text);
  }

  private static String shown(String language) {
    browser.run(
        "[...document.querySelectorAll('[role=tab]')].find(b => b.textContent ==="
            + " arguments[0]).click()",
        language);
    return (String) browser.run("return document.querySelector('.code pre').textContent");
  }

  /** What a program prints that has to succeed. */
  private static String output(String... command) throws Exception {
    Path errors = folder.resolve("errors.txt");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(errors.toFile())
            .start();
    String output = new String(process.getInputStream().readAllBytes(), ENCODING);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), Files.readString(errors) + String.join(" ", command));
    return output;
  }

  static List<String> models() {
    return MODELS;
  }

  private static void assertAnswer(String model, String printed) {
    // Each of these gives back what it gets, but for the sum and for how sure it is of speech.
    assertTrue(printed.contains(model.equals("voice") ? "SPEECH" : "42"), printed);
    assertTrue(!model.equals("repeat") || printed.contains("43"), printed);
  }

  @ParameterizedTest
  @MethodSource("models")
  void pythonAsItIsShown(String model) throws Exception {
    assumeTrue(hasPython(), "no python3 on the path");
    open(model);
    Path script = Files.writeString(folder.resolve("snippet.py"), shown("Python"));
    String printed = output("python3", script.toString());
    assertAnswer(model, printed);
    assertTrue(!model.equals("wide") || printed.contains("-9007199254740993"), printed);
    assertTrue(!model.equals("halves") || printed.contains("-0.5"), printed);
  }

  private static boolean hasPython() {
    try {
      return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
    } catch (IOException | InterruptedException e) {
      return false;
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void javaAsItIsShown(String model) throws Exception {
    open(model);
    Path source = Files.writeString(folder.resolve("Snippet.java"), shown("Java"));
    // A compiler for all snippets: its own code is compiled once.
    String classPath = System.getProperty("java.class.path");
    StringWriter said = new StringWriter();
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                new PrintWriter(said),
                new PrintWriter(said),
                "-proc:none",
                "-cp",
                classPath,
                "-d",
                folder.toString(),
                source.toString());
    assertEquals(0, status, said::toString);
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String printed =
        output(
            java,
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            folder + File.pathSeparator + classPath,
            "Snippet");
    assertAnswer(model, printed);
    assertTrue(!model.equals("wide") || printed.contains("-9007199254740993"), printed);
    assertTrue(!model.equals("halves") || printed.contains("-0.5"), printed);
  }

  @Test
  void curlAsItIsShown() throws Exception {
    open("repeat");
    assertAnswer("repeat", output("sh", "-c", shown("curl")));
    open("wide");
    ByteString same = givenBack("wide").orElseThrow();
    String answer = output("sh", "-c", shown("curl"));
    assertTrue(answer.contains(new String(same.toByteArray(), ENCODING)), answer);
  }

  @ParameterizedTest
  @MethodSource("models")
  void requestsAsGrpcurlSendsThemAreAnswered(String model) throws Exception {
    open(model);
    String[] words =
        output("sh", "-c", "grpcurl() { printf '%s\\0' \"$@\"; }\n" + shown("grpcurl")).split("\0");
    List<String> arguments = new ArrayList<>(List.of(words));
    assertTrue(arguments.remove("-plaintext"));
    assertEquals("-d", arguments.removeFirst());
    ModelInferRequest.Builder request = ModelInferRequest.newBuilder();
    JsonFormat.parser().merge(arguments.removeFirst(), request);
    ManagedChannel channel =
        NettyChannelBuilder.forTarget(arguments.removeFirst()).usePlaintext().build();
    try {
      String method = arguments.removeFirst();
      assertTrue(arguments.isEmpty(), arguments::toString);
      List<ModelInferResponse> replies =
          method.endsWith("ModelStreamInfer")
              ? streamed(channel, method, request.build())
              : List.of(called(channel, method, request.build()));
      assertFalse(replies.isEmpty());
      assertEquals(model, replies.getFirst().getModelName());
      assertEquals(model.equals("repeat") ? 2 : 1, replies.size());
      Optional<ByteString> same = givenBack(model);
      same.ifPresent(bytes -> assertEquals(bytes, replies.getFirst().getRawOutputContents(0)));
    } finally {
      channel.shutdownNow();
    }
  }

  /** The bytes of what was typed, of models that give them back. */
  private static Optional<ByteString> givenBack(String model) {
    ByteBuffer bytes = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
    switch (model) {
      case "simple", "voice", "repeat" -> {
        return Optional.empty();
      }
      case "wide" -> bytes.putLong(42).putLong(-9007199254740993L);
      case "halves" ->
          bytes.putShort(Float.floatToFloat16(42)).putShort(Float.floatToFloat16(-0.5f));
      default -> {
        byte[] text = (model.equals("words") ? WORDS : "42").getBytes(StandardCharsets.UTF_8);
        bytes.putInt(text.length).put(text);
      }
    }
    return Optional.of(ByteString.copyFrom(bytes.flip()));
  }

  private static ModelInferResponse called(
      ManagedChannel channel, String method, ModelInferRequest request) {
    return ClientCalls.blockingUnaryCall(
        channel,
        method(method, MethodType.UNARY, ModelInferResponse.getDefaultInstance()),
        CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS),
        request);
  }

  private static List<ModelInferResponse> streamed(
      ManagedChannel channel, String method, ModelInferRequest request)
      throws InterruptedException {
    List<ModelInferResponse> replies = new ArrayList<>();
    CountDownLatch ended = new CountDownLatch(1);
    StreamObserver<ModelInferRequest> requests =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(
                method(
                    method,
                    MethodType.BIDI_STREAMING,
                    ModelStreamInferResponse.getDefaultInstance()),
                CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS)),
            new StreamObserver<ModelStreamInferResponse>() {
              @Override
              public void onNext(ModelStreamInferResponse reply) {
                replies.add(reply.getInferResponse());
              }

              @Override
              public void onError(Throwable failure) {
                ended.countDown();
              }

              @Override
              public void onCompleted() {
                ended.countDown();
              }
            });
    requests.onNext(request);
    requests.onCompleted();
    assertTrue(ended.await(60, TimeUnit.SECONDS));
    return replies;
  }

  private static <R extends Message> MethodDescriptor<ModelInferRequest, R> method(
      String name, MethodType type, R reply) {
    return MethodDescriptor.<ModelInferRequest, R>newBuilder()
        .setType(type)
        .setFullMethodName(name)
        .setRequestMarshaller(ProtoUtils.marshaller(ModelInferRequest.getDefaultInstance()))
        .setResponseMarshaller(ProtoUtils.marshaller(reply))
        .build();
  }
}
