package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console while a model is fetched, out of a store that stops in the middle of a file. */
@Tag("slow")
class StoreProgressTest {

  private static final String CONFIG =
      "backend: \"identity\" input { name: \"IN\" data_type: TYPE_FP32 dims: 1 }"
          + " output { name: \"OUT\" data_type: TYPE_FP32 dims: 1 }";
  private static final int BYTES = 16 << 20;
  private static final int HALF = BYTES / 2;

  @TempDir Path cache;
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private HttpServer store;

  @BeforeEach
  void start() throws IOException {
    store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    store.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    store.createContext("/", this::answer);
    store.start();
  }

  @AfterEach
  void stop() {
    goesOn.countDown();
    store.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    byte[] answer =
        switch (path) {
          case "/bucket/" -> text(list());
          case "/bucket/models/big/config.pbtxt" -> text(CONFIG);
          default -> new byte[HALF];
        };
    String range = exchange.getRequestHeaders().getFirst("Range");
    if (range != null) {
      int total = answer.length == HALF ? BYTES : answer.length;
      exchange.getResponseHeaders().set("Content-Range", range.replace('=', ' ') + "/" + total);
    }
    exchange.sendResponseHeaders(range == null ? 200 : 206, answer.length);
    try {
      if (range != null && range.startsWith("bytes=" + HALF)) {
        goesOn.await();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String list() {
    String object = "<Contents><Key>models/big/%s</Key><ETag>e</ETag><Size>%d</Size></Contents>";
    return "<ListBucketResult>"
        + object.formatted("config.pbtxt", CONFIG.length())
        + object.formatted("1/weights.bin", BYTES)
        + "<IsTruncated>false</IsTruncated></ListBucketResult>";
  }

  @Test
  @SuppressWarnings("unchecked")
  void bytesAndTheTimeThatIsLeftAreShown() throws Exception {
    String url = "s3://127.0.0.1:" + store.getAddress().getPort() + "/bucket/models";
    StoreOptions stores = StoreOptions.builder().repository(url).cacheDirectory(cache).build();
    HttpOptions http = HttpOptions.DEFAULT.withPort(0).withConsole(ConsoleOptions.DEFAULT);
    RepositoryOptions models =
        RepositoryOptions.builder().store(ModelStore.open(stores)).explicit().build();
    Optional<Browser> browser = Browser.start();
    try (NereidServer server =
            NereidServer.start(ServerOptions.DEFAULT.withRepository(models).withHttp(http));
        ConsoleClient client = new ConsoleClient(server, Optional.empty());
        ConsoleClient.Events events = client.events("api/overview/events")) {
      Thread load = Thread.ofVirtual().start(() -> server.nereid().repository().load("big"));
      Map<String, Object> shown =
          events.await(event -> !((Map<?, ?>) event.get("server")).get("fetching").equals(""));
      Map<String, Object> its = (Map<String, Object>) shown.get("server");
      String text = its.get("fetching").toString();
      assertTrue(text.matches("fetched \\d+ of 16 MB, about \\d+ s left"), text);
      Map<String, Object> one = ((List<Map<String, Object>>) its.get("stores")).getFirst();
      assertEquals(url, one.get("repository"));
      assertEquals(Map.of("big", "is being fetched from " + url), one.get("waiting"));
      if (browser.isPresent()) {
        browser.get().open("http://127.0.0.1:" + server.httpPort() + "/");
        browser.get().awaitText(".opening", "of 16 MB, about");
        browser.get().awaitText(".troubles", "is being fetched from " + url);
        browser.get().awaitText(".facts", "can be reached");
      }
      goesOn.countDown();
      load.join();
      events.await(event -> ((Map<?, ?>) event.get("server")).get("fetching").equals(""));
      assertEquals(List.of("big"), Arrays.asList(server.nereid().model("big").name()));
      assertEquals(
          List.of(),
          browser.map(Browser::log).orElse(List.of()).stream()
              .filter(line -> line.startsWith("SEVERE"))
              .toList());
    } finally {
      browser.ifPresent(Browser::close);
    }
  }
}
