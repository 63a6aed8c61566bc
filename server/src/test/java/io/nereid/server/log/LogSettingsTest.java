package io.nereid.server.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.logging.Handler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.jr.ob.JSON;

/** The destinations and forms of log messages. */
class LogSettingsTest {

  private static final Logger LOGGER = System.getLogger("io.nereid.test");

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("log");
  }

  private LogSettings install(LogFormat format) {
    return LogSettings.install(new LogValues(true, true, true, 0, format), Optional.of(file()));
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(file());
  }

  @Test
  void textIsOneLineWithTimeLevelThreadAndLogger() throws IOException {
    Instant before = Instant.now().minusMillis(1);
    try (LogSettings log = install(LogFormat.DEFAULT)) {
      LOGGER.log(Level.WARNING, "the {0} of {1}", "end", 3);
      assertEquals(file(), log.file().orElseThrow());
    }
    String line = lines().getFirst();
    String rest = line.substring(line.indexOf(' '));
    assertEquals(
        " WARNING [" + Thread.currentThread().getName() + "] io.nereid.test: the end of 3", rest);
    Instant time = Instant.parse(line.substring(0, line.indexOf(' ')));
    assertTrue(!time.isBefore(before) && !time.isAfter(Instant.now()), line);
    assertEquals(1, lines().size());
  }

  @Test
  void exceptionsAreSetIn() throws IOException {
    IllegalStateException failure =
        new IllegalStateException("bad\n2026-01-01T00:00:00.000Z ERROR [x] y: forged");
    try (LogSettings log = install(LogFormat.ISO8601)) {
      LOGGER.log(Level.ERROR, "it failed", failure);
      assertEquals(LogFormat.ISO8601, log.values().format());
    }
    List<String> lines = lines();
    assertTrue(lines.getFirst().endsWith(": it failed"), lines.getFirst());
    assertEquals("    java.lang.IllegalStateException: bad", lines.get(1));
    assertTrue(lines.get(2).startsWith("    2026-"), lines.get(2));
    assertTrue(lines.stream().skip(1).allMatch(line -> line.startsWith("    ")));
    assertTrue(String.join("", lines).contains("exceptionsAreSetIn"));
  }

  @Test
  void jsonHasAllOfIt() throws Exception {
    Thread thread =
        Thread.ofPlatform()
            .name("one \"two\"")
            .unstarted(
                () -> LOGGER.log(Level.ERROR, "a\"b\\c\nd", new IOException("gone\r\n", null)));
    Thread virtual = Thread.ofVirtual().unstarted(() -> LOGGER.log(Level.INFO, "x"));
    try (LogSettings log = install(LogFormat.JSON)) {
      for (Thread one : List.of(thread, virtual)) {
        one.start();
        one.join();
      }
      assertEquals(LogFormat.JSON, log.values().format());
    }
    assertEquals(2, lines().size());
    Map<String, Object> line = JSON.std.mapFrom(lines().getFirst());
    assertEquals("ERROR", line.get("level"));
    assertEquals("io.nereid.test", line.get("logger"));
    assertEquals("one \"two\"", line.get("thread"));
    assertEquals("a\"b\\c\nd", line.get("message"));
    String exception = (String) line.get("exception");
    assertTrue(exception.startsWith("java.io.IOException: gone\r\n"), exception);
    assertTrue(exception.contains("\tat io.nereid.server.log.LogSettingsTest"), exception);
    String time = (String) line.get("timestamp");
    assertTrue(time.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z"), time);
    Duration age = Duration.between(Instant.parse(time), Instant.now());
    assertTrue(age.compareTo(Duration.ofMinutes(1)) < 0, time);
    line = JSON.std.mapFrom(lines().getLast());
    assertEquals("virtual-" + virtual.threadId(), line.get("thread"));
    assertFalse(line.containsKey("exception"));
  }

  @ParameterizedTest
  @EnumSource(LogFormat.class)
  void nothingThatIsLoggedCanLookLikeALine(LogFormat format) throws IOException {
    Random random = new Random(7);
    String special = "\n\r\u0085\u2028\u2029\u001b\u0000\u007f\t\"\\{}'\u202e\ufeff\u00e9\u6f22a ";
    int count = 500;
    String[] messages = new String[count];
    try (LogSettings log = install(format)) {
      for (int i = 0; i < count; i++) {
        StringBuilder message = new StringBuilder();
        for (int j = random.nextInt(40); j >= 0; j--) {
          message.append(special.charAt(random.nextInt(special.length())));
        }
        messages[i] = message.toString();
        LOGGER.log(Level.INFO, messages[i]);
      }
      assertEquals(format, log.values().format());
    }
    List<String> lines = lines();
    assertEquals(count, lines.size());
    for (int i = 0; i < count; i++) {
      assertTrue(
          lines
              .get(i)
              .chars()
              .noneMatch(
                  c -> Character.isISOControl(c) || c == 0x2028 || c == 0x2029 || c == 0x202e));
      if (format == LogFormat.JSON) {
        assertEquals(messages[i], JSON.std.mapFrom(lines.get(i)).get("message"));
      }
    }
  }

  @Test
  void longMessagesAreCut() throws IOException {
    try (LogSettings log = install(LogFormat.JSON)) {
      LOGGER.log(Level.INFO, "x".repeat(1 << 20));
      assertTrue(log.values().info());
    }
    assertTrue(lines().getFirst().length() < 20_000);
    String message = (String) JSON.std.mapFrom(lines().getFirst()).get("message");
    assertTrue(message.endsWith("x... (1032192 more)"), message.substring(16_000));
  }

  @Test
  void eachLevelIsTurnedOffByItself() throws IOException {
    for (String name : new String[] {"log_info", "log_warning", "log_error"}) {
      try (LogSettings log = install(LogFormat.DEFAULT)) {
        log.change(Map.of(name, false));
        logAll();
      }
      List<String> lines = lines();
      assertEquals(name.equals("log_error") ? 2 : 3, lines.size(), lines.toString());
      String off = " " + name.substring("log_".length()).toUpperCase(Locale.ROOT) + " ";
      assertTrue(lines.stream().noneMatch(line -> line.contains(off)), lines.toString());
      Files.delete(file());
    }
  }

  private static void logAll() {
    for (Level level : List.of(Level.ERROR, Level.WARNING, Level.INFO, Level.DEBUG, Level.TRACE)) {
      LOGGER.log(level, "message");
    }
    java.util.logging.Logger.getLogger("a.library").severe("message");
    java.util.logging.Logger.getLogger("a.library").fine("message");
  }

  @Test
  void theVerboseLevelLetsMoreThrough() throws IOException {
    int[] expected = {4, 5, 6, 6};
    for (int level = 0; level < expected.length; level++) {
      try (LogSettings log = install(LogFormat.DEFAULT)) {
        log.change(Map.of("log_verbose_level", (long) level));
        assertEquals(level > 0, LOGGER.isLoggable(Level.DEBUG));
        assertEquals(level > 1, LOGGER.isLoggable(Level.TRACE));
        logAll();
      }
      assertEquals(expected[level], lines().size(), lines().toString());
      assertEquals(level > 0, lines().stream().anyMatch(line -> line.contains(" DEBUG ")));
      assertEquals(level > 1, lines().stream().anyMatch(line -> line.contains(" TRACE ")));
      Files.delete(file());
    }
  }

  @Test
  void aChangeIsMadeAsAWholeOrNotAtAll() {
    try (LogSettings log = install(LogFormat.DEFAULT)) {
      LogValues changed =
          log.change(Map.of("log_info", false, "log_verbose_level", 2L, "log_format", "json"));
      assertEquals(new LogValues(false, true, true, 2, LogFormat.JSON), changed);
      assertEquals(changed, log.values());
      assertFails(log, "log_info", 1L, "expected a boolean as 'log_info', got 1");
      assertFails(log, "log_warning", "true", "expected a boolean as 'log_warning', got 'true'");
      assertFails(log, "log_verbose_level", -1L, "from 0 to 2147483647");
      assertFails(log, "log_verbose_level", 1.5, "got 1.5");
      assertFails(log, "log_verbose_level", 1L << 31, "got 2147483648");
      assertFails(log, "log_format", "xml", "'default', 'ISO8601' or 'json' as 'log_format'");
      assertFails(log, "log_format", true, "expected a string as 'log_format', got true");
      assertFails(log, "log_color", true, "got 'log_color'");
      NereidException failure =
          assertThrows(NereidException.class, () -> log.change(Map.of("log_file", "x")));
      assertEquals(StatusCode.UNIMPLEMENTED, failure.code());
      assertEquals(changed, log.values());
      assertEquals(changed, log.change(Map.of()));
    }
  }

  /** Together with something that could be changed. */
  private static void assertFails(LogSettings log, String name, Object value, String message) {
    LogValues before = log.values();
    Map<String, Object> settings = new HashMap<>(Map.of("log_error", false));
    settings.put(name, value);
    NereidException failure = assertThrows(NereidException.class, () -> log.change(settings));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains(message), failure.getMessage());
    assertEquals(before, log.values());
  }

  @Test
  void closingHandsTheLogBack() throws IOException {
    java.util.logging.Logger root = java.util.logging.Logger.getLogger("");
    Handler[] before = root.getHandlers();
    java.util.logging.Level level = root.getLevel();
    try (LogSettings log = install(LogFormat.DEFAULT)) {
      log.change(Map.of("log_verbose_level", 2L));
      assertEquals(1, root.getHandlers().length);
    }
    assertArrayEquals(before, root.getHandlers());
    assertEquals(level, root.getLevel());
    assertFalse(LOGGER.isLoggable(Level.DEBUG));
  }

  @Test
  void eventsAreLoggedWhileTheProcessEnds() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                LogAtTheEnd.class.getName(),
                KeptLogManager.class.getName())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(printed.contains("io.nereid: still here"), printed);
    assertEquals(0, process.waitFor());
  }

  @Test
  void aFileThatCannotBeOpenedIsNamed() {
    NereidException failure =
        assertThrows(
            NereidException.class,
            () -> LogSettings.install(LogValues.DEFAULT, Optional.of(directory)));
    assertTrue(failure.getMessage().contains(directory.toString()), failure.getMessage());
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
  }
}
