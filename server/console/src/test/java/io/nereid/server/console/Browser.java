package io.nereid.server.console;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.jr.ob.JSON;

/**
 * A Chromium without a window, driven over the WebDriver protocol. Closing it ends the browser and
 * its driver. One thread uses it at a time.
 */
final class Browser implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");
  private static final Map<String, Integer> PHONE = Map.of("width", 375, "height", 812);
  private static final Map<String, Integer> DESKTOP = Map.of("width", 1280, "height", 860);

  private final Process driver;
  private final HttpClient client = HttpClient.newHttpClient();
  private final String session;

  private Browser(Process driver, Path chromium) throws IOException {
    this.driver = driver;
    String server = "http://127.0.0.1:" + portOf(driver);
    Map<String, ?> chrome =
        Map.of(
            "binary",
            chromium.toString(),
            "args",
            List.of(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--hide-scrollbars",
                "--force-color-profile=srgb"));
    Map<String, ?> wanted =
        Map.of(
            "browserName",
            "chrome",
            "goog:chromeOptions",
            chrome,
            "goog:loggingPrefs",
            Map.of("browser", "ALL"));
    Map<?, ?> made =
        (Map<?, ?>)
            send(
                "POST", server + "/session", Map.of("capabilities", Map.of("alwaysMatch", wanted)));
    session = server + "/session/" + made.get("sessionId");
    desktop();
  }

  /** Starts one; empty where the machine has no Chromium or no driver of it. */
  static Optional<Browser> start() throws IOException {
    Optional<Path> chromium = onPath("chromium", "chromium-browser", "google-chrome");
    Optional<Path> chromedriver = onPath("chromedriver");
    if (chromium.isEmpty() || chromedriver.isEmpty()) {
      return Optional.empty();
    }
    Process driver =
        new ProcessBuilder(chromedriver.get().toString(), "--port=0")
            .redirectErrorStream(true)
            .start();
    try {
      return Optional.of(new Browser(driver, chromium.get()));
    } catch (IOException | RuntimeException e) {
      driver.destroy();
      throw e;
    }
  }

  private static Optional<Path> onPath(String... names) {
    return Stream.of(names)
        .flatMap(name ->
            Stream.of(System.getenv("PATH").split(":")).map(folder -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static int portOf(Process driver) throws IOException {
    BufferedReader output = driver.inputReader();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      Matcher started = STARTED.matcher(line);
      if (started.find()) {
        // Its further output is read, too, so that it never waits for a reader. A virtual thread
        // would hold its carrier meanwhile, which the server of the test needs.
        Thread.ofPlatform().daemon().start(() -> output.lines().forEach(ignored -> {}));
        return Integer.parseInt(started.group(1));
      }
    }
    throw new IOException("expected the driver of the browser to say its port, and it ended");
  }

  private Object send(String verb, String url, Object body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url))
              .method(
                  verb,
                  body == null
                      ? BodyPublishers.noBody()
                      : BodyPublishers.ofString(JSON.std.asString(body)))
              .build();
      Map<String, Object> reply =
          JSON.std.mapFrom(client.send(request, BodyHandlers.ofString()).body());
      if (reply.get("value") instanceof Map<?, ?> value && value.containsKey("error")) {
        throw new AssertionError(value.get("error") + ": " + value.get("message"));
      }
      return reply.get("value");
    } catch (IOException | InterruptedException e) {
      throw new AssertionError("the driver of the browser does not answer", e);
    }
  }

  private Object post(String path, Object body) {
    return send("POST", session + path, body);
  }

  private void devTools(String command, Map<String, ?> parameters) {
    post("/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
  }

  /** Opens a page anew, even where only the part behind # differs. */
  void open(String url) {
    post("/url", Map.of("url", "about:blank"));
    post("/url", Map.of("url", url));
  }

  /** Runs a function's body in the page and returns what it returns. */
  Object run(String script, Object... arguments) {
    return post("/execute/sync", Map.of("script", script, "args", List.of(arguments)));
  }

  /** As above; the script says it is done by calling its last argument. */
  Object runAsync(String script, Object... arguments) {
    return post("/execute/async", Map.of("script", script, "args", List.of(arguments)));
  }

  /** Waits until an expression is true in the page; the message has the page's text. */
  void await(String expression, Object... arguments) {
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!Boolean.TRUE.equals(run("return Boolean(" + expression + ")", arguments))) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError(
            "still not so: " + expression + "\n" + run("return document.body.innerText") + log());
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  /** Waits until an element is there that the selector means and whose text has a part. */
  void awaitText(String selector, String part) {
    await(
        "[...document.querySelectorAll(arguments[0])].some(e =>"
            + " e.textContent.includes(arguments[1]))",
        selector,
        part);
  }

  String text(String selector) {
    return (String) run("return document.querySelector(arguments[0]).innerText", selector);
  }

  private Map<?, ?> element(String selector) {
    await("document.querySelector(arguments[0])", selector);
    return (Map<?, ?>) post("/element", Map.of("using", "css selector", "value", selector));
  }

  private static Object id(Map<?, ?> element) {
    return element.values().iterator().next();
  }

  void click(String selector) {
    post("/element/" + id(element(selector)) + "/click", Map.of());
  }

  /** Puts text into a field, in place of what is there. */
  void type(String selector, String text) {
    Object field = id(element(selector));
    post("/element/" + field + "/clear", Map.of());
    post("/element/" + field + "/value", Map.of("text", text));
  }

  /** Presses and releases keys, one after the other, wherever the focus is. */
  void press(String... keys) {
    List<Map<String, ?>> actions = new ArrayList<>();
    for (String key : keys) {
      actions.add(Map.of("type", "keyDown", "value", key));
      actions.add(Map.of("type", "keyUp", "value", key));
    }
    post(
        "/actions",
        Map.of("actions", List.of(Map.of("type", "key", "id", "keys", "actions", actions))));
  }

  /** Draws a line on an element with the mouse; the points are fractions of its size. */
  void draw(String selector, double[]... points) {
    run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector);
    @SuppressWarnings("unchecked")
    Map<String, Number> box =
        (Map<String, Number>)
            run(
                "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                    + "return {x: b.x, y: b.y, w: b.width, h: b.height}",
                selector);
    List<Map<String, ?>> actions = new ArrayList<>();
    for (double[] point : points) {
      long x = Math.round(box.get("x").doubleValue() + point[0] * box.get("w").doubleValue());
      long y = Math.round(box.get("y").doubleValue() + point[1] * box.get("h").doubleValue());
      actions.add(Map.of("type", "pointerMove", "duration", 0, "x", x, "y", y));
      if (actions.size() == 1) {
        actions.add(Map.of("type", "pointerDown", "button", 0));
      }
    }
    actions.add(Map.of("type", "pointerUp", "button", 0));
    post(
        "/actions",
        Map.of("actions", List.of(Map.of("type", "pointer", "id", "mouse", "actions", actions))));
  }

  void desktop() {
    size(DESKTOP, 1, false);
  }

  void phone() {
    size(PHONE, 2, true);
  }

  private void size(Map<String, Integer> size, int scale, boolean mobile) {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        Map.of(
            "width",
            size.get("width"),
            "height",
            size.get("height"),
            "deviceScaleFactor",
            scale,
            "mobile",
            mobile));
  }

  /** Makes the browser prefer light or dark pages. */
  void prefer(String scheme) {
    devTools(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(
                Map.of("name", "prefers-color-scheme", "value", scheme),
                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
  }

  /** Lets pages save files into a folder. */
  void saveTo(Path folder) {
    devTools(
        "Page.setDownloadBehavior",
        Map.of("behavior", "allow", "downloadPath", folder.toAbsolutePath().toString()));
  }

  /** Puts a file of this machine into a field for files. */
  void choose(String selector, Path file) {
    post(
        "/element/" + id(element(selector)) + "/value",
        Map.of("text", file.toAbsolutePath().toString()));
  }

  /** What the pages wrote to the browser's console since the last call. */
  List<String> log() {
    List<String> lines = new ArrayList<>();
    for (Object entry : (List<?>) post("/se/log", Map.of("type", "browser"))) {
      Map<?, ?> line = (Map<?, ?>) entry;
      lines.add(line.get("level") + " " + line.get("message"));
    }
    return Collections.unmodifiableList(lines);
  }

  /** The bytes of a PNG of what the window shows. */
  byte[] screenshot() {
    return Base64.getDecoder().decode((String) send("GET", session + "/screenshot", null));
  }

  @Override
  public void close() {
    try {
      send("DELETE", session, null);
    } finally {
      client.close();
      driver.destroy();
      try {
        if (!driver.waitFor(10, TimeUnit.SECONDS)) {
          driver.destroyForcibly();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
