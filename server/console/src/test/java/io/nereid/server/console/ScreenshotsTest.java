package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.LoadTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Makes the pictures of docs/images anew, with {@code -Dconsole.screenshots=true}: what README.md
 * and docs/console.md show is what a server shows.
 */
@Tag("slow")
@EnabledIfSystemProperty(named = "console.screenshots", matches = "true")
class ScreenshotsTest {

  private static final Path IMAGES = Path.of("..", "..", "docs", "images");
  private static final int MOST_BYTES = 100_000;

  @Test
  void picturesOfThePages(@TempDir Path folder) throws IOException {
    Path repository = Files.createDirectory(folder.resolve("models"));
    ConsoleModels.copyBundled(repository);
    ConsoleModels.broken(repository);
    ConsoleModels.minilm(repository);
    Files.createDirectories(IMAGES);
    try (BrowsedConsole console = BrowsedConsole.start(repository);
        LoadTest load =
            LoadTest.start(console.page("").replaceFirst("/$", ""), "digits", "random", 8)) {
      Browser browser = console.browser();
      for (String scheme : new String[] {"light", "dark"}) {
        browser.prefer(scheme);
        browser.open(console.page(""));
        browser.await("document.querySelector('.models .title a')");
        busy(browser);
        save(browser, "console-overview-" + scheme);
        browser.open(console.page("#/models/digits"));
        browser.awaitText(".facts dt", "Executions");
        browser.run("document.querySelector('.tide').scrollIntoView()");
        busy(browser);
        save(browser, "console-model-" + scheme);
        browser.open(console.page("#/models/digits/try"));
        browser.awaitText(".code pre", "curl");
        Drawings.three(browser);
        browser.awaitText(".verdict", "three");
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        save(browser, "console-try-" + scheme);
        browser.open(console.page("#/models/minilm/try"));
        browser.awaitText(".code pre", "curl");
        browser.click("#compare");
        browser.awaitText(".near bdi", "Young dogs like to be outside.");
        browser.run(
            "document.activeElement.blur(); document.querySelector('.near').scrollIntoView()");
        save(browser, "console-near-" + scheme);
      }
      assertTrue(load.next().requests() > 0, load::toString);
    }
  }

  /** Waits until the page has had so many events that its plots have a shape. */
  private static void busy(Browser browser) {
    browser.runAsync(
        "const done = arguments[0]; let left = 12;const seen = new MutationObserver(() => { if"
            + " (!left--) { seen.disconnect(); done(true); }"
            + " });seen.observe(document.querySelector('.tide .above'), {attributes: true})");
  }

  private static void save(Browser browser, String name) throws IOException {
    byte[] png = Picture.small(browser.screenshot());
    assertTrue(png.length < MOST_BYTES, name + " has " + png.length + " bytes");
    Files.write(IMAGES.resolve(name + ".png"), png);
  }
}
