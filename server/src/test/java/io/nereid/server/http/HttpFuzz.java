package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.Backend;
import io.nereid.model.Batch;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.seam.HttpListener;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * A target for fuzzing: any bytes as what a client sends over a connection. Every request has one
 * whole reply that is no failure of the server, and nothing is left behind.
 */
public final class HttpFuzz {

  private static final HttpLimits LIMITS =
      new HttpLimits(1 << 20, 4096, 100, 100, 10, Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static HttpFuzz instance;

  /** Held here: loggers are kept weakly. */
  private final Logger logger = Logger.getLogger("io.nereid.server");

  private final AtomicReference<LogRecord> failure = new AtomicReference<>();
  private final Nereid nereid;
  private final HttpListener listener;
  private final Map<String, ModelSpec> specs = new HashMap<>();

  private HttpFuzz() {
    nereid =
        Nereid.open(
            RepositoryOptions.builder().explicit().build(),
            NereidOptions.builder().cacheByteLimit(1 << 20).build());
    LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.of(Path.of("/dev/null")));
    ServerState state =
        ServerState.builder(nereid).allowClientShm(true).log(Optional.of(log)).build();
    listener =
        HttpServer.listen(
            state, HttpOptions.DEFAULT.withLimits(LIMITS), HeapBudget.ofThisProcess());
    logger.addHandler(new FailureHandler(failure));
    loadModels();
  }

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) {
    if (instance == null) {
      instance = new HttpFuzz();
    }
    instance.serve(bytes, false);
    instance.serve(bytes, true);
  }

  private void serve(byte[] bytes, boolean inPieces) {
    failure.set(null);
    byte[] reply = exchange(bytes, inPieces);
    LogRecord record = failure.get();
    if (record != null) {
      throw new AssertionError(record.getMessage(), record.getThrown());
    }
    if (reply != null) {
      String sent = new String(bytes, StandardCharsets.ISO_8859_1);
      ReplyCheck.check(reply, sent.contains("HEAD "));
    }
    TestServer.await(() -> listener.connectionCount() == 0, "the connection is still open");
    TestServer.await(() -> nereid.poolStatistics().liveBuffers() == 0, "buffers are still in use");
    restoreModels();
  }

  /** Everything that is answered; null if the connection was reset. */
  private byte[] exchange(byte[] bytes, boolean inPieces) {
    try (RawClient client = new RawClient(listener.port())) {
      int step = inPieces ? Math.max(1, bytes.length / 7) : Math.max(1, bytes.length);
      for (int at = 0; at < bytes.length; at += step) {
        client.send(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + step)));
      }
      client.socket().shutdownOutput();
      return client.socket().getInputStream().readAllBytes();
    } catch (SocketTimeoutException e) {
      throw new AssertionError("there was no end of the reply", e);
    } catch (IOException e) {
      return null;
    }
  }

  /** The input may have loaded and unloaded some. */
  private void restoreModels() {
    for (Model model : nereid.models()) {
      ModelSpec spec = specs.get(model.name());
      if (spec == null && model.state() == ModelState.READY) {
        model.unload();
      } else if (spec != null && model.state() != ModelState.READY) {
        nereid.load(spec);
      }
    }
  }

  // ---- Models ----------------------------------------------------------------------------------

  private static final DataType[] TYPES = {
    DataType.FP32,
    DataType.FP64,
    DataType.INT64,
    DataType.UINT64,
    DataType.INT8,
    DataType.UINT16,
    DataType.BOOL,
    DataType.FP16,
    DataType.BYTES
  };

  private void loadModels() {
    for (DataType type : TYPES) {
      load(TestServer.identity(type.name(), type));
    }
    load(
        TestServer.identity("queued", DataType.FP32)
            .inline(false)
            .responseCache(true)
            .dynamicBatching(DynamicBatching.builder().build()));
    Backend thrice = context -> HttpFuzz::answerThrice;
    load(
        ModelSpec.builder("thrice")
            .backend(thrice)
            .decoupled(true)
            .input("TEXT", DataType.BYTES, 1)
            .output("OUT", DataType.BYTES, 1));
  }

  private void load(ModelSpec.Builder model) {
    ModelSpec spec = model.build();
    specs.put(spec.name(), spec);
    nereid.load(spec);
  }

  private static void answerThrice(Batch batch) {
    for (int i = 0; i < batch.requestCount(); i++) {
      for (int j = 0; j < 3; j++) {
        batch.request(i).output("OUT", Tensor.ofStrings(new String[] {"a\"\n\u20ac" + j}, 1));
        batch.request(i).respond();
      }
    }
  }

  /** Keeps what the server says went wrong. */
  private static final class FailureHandler extends Handler {

    private final AtomicReference<LogRecord> first;

    FailureHandler(AtomicReference<LogRecord> first) {
      this.first = first;
    }

    @Override
    public void publish(LogRecord record) {
      boolean severe = record.getLevel().intValue() >= Level.SEVERE.intValue();
      if (severe && (record.getThrown() != null || !ReplyCheck.isTold(record.getMessage()))) {
        first.compareAndSet(null, record);
      }
    }

    @Override
    public void flush() {
      // Nothing is held back.
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }
}
