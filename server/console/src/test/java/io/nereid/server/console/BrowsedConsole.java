package io.nereid.server.console;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** A whole server with a console, and a browser that looks at it. */
final class BrowsedConsole implements AutoCloseable {

  private final Browser browser;
  private final ConsoleServer server;

  private BrowsedConsole(Browser browser, ConsoleServer server) {
    this.browser = browser;
    this.server = server;
  }

  /** Starts both; where the machine has no browser the test is skipped. */
  static BrowsedConsole start(Path models) throws IOException {
    Optional<Browser> browser = Browser.start();
    assumeTrue(browser.isPresent(), "no Chromium with its driver; './dev setup' installs them");
    try {
      return new BrowsedConsole(browser.get(), new ConsoleServer(models, null));
    } catch (RuntimeException e) {
      browser.get().close();
      throw e;
    }
  }

  Browser browser() {
    return browser;
  }

  /** The address of a page; the fragment begins with {@code #}, or is empty. */
  String page(String fragment) {
    return server.page(fragment);
  }

  @Override
  public void close() {
    browser.close();
    server.close();
  }
}
