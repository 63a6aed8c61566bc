package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The console in a real browser; without one the tests are skipped. */
@Tag("slow")
class ConsolePagesTest {

  private static final String LINKS = "[...document.querySelectorAll('.models .title a')]";
  private static final String TAB = "\uE004";
  private static final String ENTER = "\uE007";
  private static final String SPACE = " ";
  private static final String LEFT = "\uE012";
  private static final String UP = "\uE013";
  private static final String RIGHT = "\uE014";
  private static final String DOWN = "\uE015";

  @TempDir static Path folder;
  private static BrowsedConsole console;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException {
    ConsoleModels.copyBundled(folder);
    ConsoleModels.broken(folder);
    ConsoleModels.minilm(folder);
    console = BrowsedConsole.start(folder);
    browser = console.browser();
  }

  @AfterAll
  static void stop() {
    if (console != null) {
      console.close();
    }
  }

  @BeforeEach
  void beforeADesk() {
    browser.desktop();
    browser.prefer("light");
    browser.log();
  }

  @AfterEach
  void nothingWentWrongInThePage() {
    assertEquals(List.of(), severe());
  }

  private static List<String> severe() {
    return browser.log().stream().filter(line -> line.startsWith("SEVERE")).toList();
  }

  /** A browser notes each answer that is an error. */
  private static void ignoreNotFound() {
    assertEquals(List.of(), severe().stream().filter(line -> !line.contains("404")).toList());
  }

  private static void open(String fragment, String awaited, String text) {
    browser.open(console.page(fragment));
    browser.awaitText(awaited, text);
  }

  /** Opens a page and waits until it shows what only the server can have told it. */
  private static void open(String fragment) {
    switch (fragment) {
      case "" -> open(fragment, ".models .title", "digits");
      case "#/requests" -> open(fragment, ".pulse", "live");
      case "#/models/digits" -> open(fragment, ".facts dt", "Executions");
      case "#/models/simple" -> open(fragment, "h2", "Objective p99 30s");
      case "#/models/digit" -> open(fragment, "h1", "There is no model digit");
      case "#/models/broken" -> open(fragment, ".advice", "Mend what it names");
      case "#/models/digits/configuration" -> open(fragment, ".settings td", "max_batch_size");
      case "#/models/minilm/try" -> {
        open(fragment, ".code pre", "curl");
        browser.click("#compare");
        browser.awaitText(".near bdi", "Young dogs like to be outside.");
      }
      default -> open(fragment, ".code pre", "curl");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "#/requests",
        "#/models/digits",
        "#/models/simple",
        "#/models/digits/try",
        "#/models/repeat/try",
        "#/models/simple_string/try",
        "#/models/minilm/try",
        "#/models/digits/configuration",
        "#/models/digit",
        "#/models/broken"
      })
  void eachPageIsAccessibleLightAndDarkAndFitsAPhone(String fragment) throws IOException {
    open(fragment);
    assertEquals(List.of(), violations());
    browser.prefer("dark");
    browser.await("document.documentElement.dataset.theme === 'dark'");
    assertEquals(List.of(), violations());
    browser.phone();
    open(fragment);
    assertEquals(0L, wider());
    assertEquals(List.of(), violations());
    ignoreNotFound();
  }

  private static long wider() {
    return ((Number) browser.run("return document.documentElement.scrollWidth - innerWidth"))
        .longValue();
  }

  /** What axe finds serious or critical. */
  private static List<String> violations() throws IOException {
    if (!Boolean.TRUE.equals(browser.run("return 'axe' in window"))) {
      browser.run(axe());
    }
    List<?> found =
        (List<?>)
            browser.runAsync(
                """
                const done = arguments[arguments.length - 1];
                axe.run({preload: false}).then(result => done(result.violations
                  .filter(each => ['serious', 'critical'].includes(each.impact))
                  .map(each => each.id + ': ' + each.nodes.map(node => node.html).join(' '))));
                """);
    return found.stream().map(String::valueOf).toList();
  }

  private static String axe() throws IOException {
    String version;
    try (InputStream facts = resource("META-INF/maven/org.webjars.npm/axe-core/pom.properties")) {
      java.util.Properties properties = new java.util.Properties();
      properties.load(facts);
      version = properties.getProperty("version");
    }
    try (InputStream script =
        resource("META-INF/resources/webjars/axe-core/" + version + "/axe.min.js")) {
      return new String(script.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static InputStream resource(String name) {
    return ConsolePagesTest.class.getClassLoader().getResourceAsStream(name);
  }

  @Test
  void aDigitThatIsDrawnIsRecognised() {
    open("#/models/digits/try");
    Drawings.three(browser);
    browser.await("document.querySelector('.verdict')?.textContent === 'three'");
    assertEquals(
        10L,
        ((Number) browser.run("return document.querySelectorAll('.bars dt').length")).longValue());
    browser.run(
        "[...document.querySelectorAll('button')].find(b => b.textContent === 'Wipe').click()");
    Drawings.zero(browser);
    browser.await("document.querySelector('.verdict')?.textContent === 'zero'");
  }

  @Test
  void aDigitIsDrawnWithTheKeyboard() {
    open("#/models/digits/try");
    browser.run("document.querySelector('canvas.sheet').focus()");
    browser.press(SPACE);
    for (String key : List.of(RIGHT, DOWN, LEFT, UP)) {
      for (int i = 0; i < (key.equals(DOWN) || key.equals(UP) ? 12 : 7); i++) {
        browser.press(key);
      }
    }
    browser.await("document.querySelector('.verdict')?.textContent === 'zero'");
  }

  @Test
  void aModelIsLoadedAndUnloadedAndThePagesShowIt() {
    String state = "document.querySelector('.opening .state')?.dataset.state";
    open("#/models/simple_twice", ".opening .state", "ready");
    browser.click("[data-act=unload]");
    browser.await(state + " !== 'READY'");
    browser.run("location.hash = '#/'");
    browser.await(
        LINKS
            + ".some(a => a.textContent === 'simple_twice' &&"
            + " a.closest('tr').querySelector('.state').dataset.state !== 'READY')");
    browser.run("location.hash = '#/models/simple_twice'");
    browser.click("[data-act=load]");
    browser.await(state + " === 'READY'");
  }

  @Test
  void aFailingModelShowsItsReasonAndTheLine() {
    open("", ".troubles .reason", "max_batch");
    assertTrue(browser.text(".troubles").contains("broken/config.pbtxt:2:1"));
    browser.click(".troubles a");
    browser.awaitText(".trouble .reason", "max_batch");
  }

  @Test
  void aModelThatIsNotThereHasNearNames() {
    open("#/models/simple_sting/try", "h1", "There is no model simple_sting");
    assertEquals("simple_string", browser.text("main li a"));
    browser.click("main li a");
    browser.awaitText("h1", "simple_string");
    open("#/models/digits/versions/7", "h1", "There is no version 7 of digits");
    ignoreNotFound();
  }

  @Test
  void answersOfADecoupledModelComeOneByOne() {
    open("#/models/repeat/try");
    browser.type("[data-input=IN]", "4 5 6");
    browser.type("[data-input=DELAY]", "0 1 1");
    browser.click("#send");
    browser.await("document.querySelectorAll('.stream li').length === 3");
    assertTrue(browser.text(".stream li:last-child").contains("OUT 6"));
  }

  @Test
  void textIsSentAndCommandsCanBePasted() throws Exception {
    open("#/models/simple_string/try");
    String sixteen = "1\n".repeat(15) + "1";
    browser.run(
        "for (const area of document.querySelectorAll('textarea')) {area.value = arguments[0];"
            + " area.dispatchEvent(new Event('input', {bubbles: true})); }",
        sixteen);
    browser.click("#send");
    browser.awaitText(".reply .text", "2");
    Process curl = new ProcessBuilder("sh", "-c", browser.text(".code pre")).start();
    String answer = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(curl.waitFor(60, TimeUnit.SECONDS));
    assertTrue(answer.contains("\"data\":[\"2\",\"2\""), answer);
  }

  @Test
  void mistakesInTheFormAreToldBesideIt() {
    open("#/models/simple/try");
    browser.type("[data-input=INPUT0]", "1, 2, three");
    browser.click("#send");
    browser.awaitText(".problem", "expected values of INT32, got ‘three’");
    browser.type("[data-input=INPUT0]", "1, 2");
    browser.click("#send");
    browser.awaitText(".problem", "expected 16 elements for [1, 16], got 2");
  }

  @Test
  void theSlowestRequestsAreShownWithTheirPhases() {
    open("#/requests");
    browser.run(
        "for (let i = 0; i < 20; i++) fetch('/v2/models/identity_fp32/infer', {method: 'POST',"
            + " body:"
            + " '{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}'})");
    browser.awaitText(".falls a", "identity_fp32");
    browser.await("document.querySelectorAll('.falls rect').length > 2");
  }

  @Test
  void aRecordingIsBegunAndEnded(@TempDir Path models, @TempDir Path recorded) throws IOException {
    ConsoleModels.echo(models, "echo");
    try (ConsoleServer server = ConsoleServer.recording(models, recorded)) {
      browser.open(server.page("#/requests"));
      browser.awaitText(".recording", "Requests are not recorded: 0 were since the start");
      browser.awaitText(".recording button", "Record");
      browser.click(".recording button");
      browser.awaitText(".recording", "Requests are recorded: ");
      browser.awaitText(".recording button", "Stop recording");
      browser.click(".recording button");
      browser.awaitText(".recording", "Requests are not recorded: ");
      open("#/requests");
      browser.await("!document.querySelector('.recording')");
    }
  }

  @Test
  void headlineLeadsWithTrouble() {
    open("");
    browser.awaitText("h1", "1 of ");
    browser.awaitText("h1", " versions failed");
  }

  @Test
  void refusedRequestsAreTold() {
    open("");
    browser.run(
        "for (let i = 0; i < 3; i++) fetch('/v2/models/none/infer', {method: 'POST', body: '{}'})");
    browser.awaitText(".trouble", "requests were refused or failed in the last minute: ");
    browser.awaitText(".trouble", "HTTP 404");
    ignoreNotFound();
  }

  @Test
  void thePagesAreWalkedByKeyboard() {
    open("");
    browser.run("document.activeElement.blur()");
    TreeSet<String> reached = new TreeSet<>();
    for (int i = 0; i < 60 && !reached.contains("a:voice"); i++) {
      browser.press(TAB);
      reached.add(
          (String)
              browser.run(
                  "const e = document.activeElement; return e.tagName.toLowerCase() + ':' +"
                      + " e.textContent"));
    }
    assertTrue(
        reached.containsAll(
            List.of("a:To the page", "a:Nereid", "a:Requests", "button:p99", "a:broken")),
        reached.toString());
    browser.press("/");
    assertEquals("search", browser.run("return document.activeElement.type"));
    browser.press("d", "i", "g");
    browser.await(LINKS + ".length === 1");
    browser.run(LINKS.concat("[0].focus()"));
    browser.press(ENTER);
    browser.awaitText("h1", "digits");
    assertEquals("page", browser.run("return document.activeElement.id"));
  }

  @Test
  void darkIsChosenAndStays() {
    open("");
    browser.click("#theme");
    browser.await("document.documentElement.dataset.theme === 'dark'");
    open("#/requests");
    assertEquals("dark", browser.run("return document.documentElement.dataset.theme"));
    browser.click("#theme");
    browser.await("document.documentElement.dataset.theme === 'light'");
  }

  @Test
  void namesOfModelsAreTextWhateverTheyAre(@TempDir Path models) throws IOException {
    for (String name : ConsoleModels.HOSTILE) {
      ConsoleModels.echo(models, name);
    }
    try (ConsoleServer hostile = new ConsoleServer(models, null)) {
      for (String name : ConsoleModels.HOSTILE) {
        browser.open(hostile.page(""));
        browser.await(LINKS + ".some(a => a.textContent === arguments[0])", name);
        browser.run(
            "location.hash = " + LINKS + ".find(a => a.textContent === arguments[0]).hash", name);
        browser.await("document.querySelector('h1 bdi')?.textContent === arguments[0]", name);
        browser.run("location.hash += '/try'");
        browser.await("document.querySelector('[aria-current=page][href$=try]')");
        browser.run("location.hash = location.hash.replace(/try$/, 'configuration')");
        browser.await("document.querySelector('section h2')");
      }
      assertEquals(Map.of(), browser.run("return window.harmed ?? {}"));
      assertEquals(
          0L,
          ((Number) browser.run("return document.querySelectorAll('main img, main script').length"))
              .longValue());
    }
    // What is not served has no configuration: the browser notes each answer that is an error.
    assertTrue(severe().stream().allMatch(line -> line.contains("Failed to load resource")));
  }

  @Test
  void aTokenIsAskedForAndWorks(@TempDir Path models) throws IOException {
    ConsoleModels.copyBundled(models, "simple");
    Path tokens =
        Files.writeString(folder.resolveSibling(folder.getFileName() + ".tokens"), "mermaid\n");
    try (ConsoleServer guarded = new ConsoleServer(models, tokens)) {
      browser.open(guarded.page(""));
      browser.awaitText("dialog h2", "This server wants a token");
      browser.type("dialog input", "kraken");
      browser.click("dialog .main");
      browser.awaitText("dialog p", "does not do");
      browser.type("dialog input", "mermaid");
      browser.click("dialog .main");
      browser.awaitText(".models .title", "simple");
      browser.open(guarded.page("#/models/simple/try"));
      browser.awaitText(".code pre", "Authorization: Bearer $TOKEN");
      assertEquals(
          false, browser.run("return document.documentElement.outerHTML.includes('mermaid')"));
    } finally {
      Files.delete(tokens);
    }
    assertTrue(severe().stream().allMatch(line -> line.contains("401")));
  }
}
