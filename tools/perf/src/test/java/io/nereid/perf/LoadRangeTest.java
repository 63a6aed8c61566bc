package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.LevelRunner.Stability;
import io.nereid.perf.Target.Protocol;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads and addresses as people write them, and when windows agree. */
class LoadRangeTest {

  @ParameterizedTest
  @CsvSource({
    "8, '[8.0]'",
    "1:3, '[1.0, 2.0, 3.0]'",
    "1:10:4, '[1.0, 5.0, 9.0]'",
    "1:16:x2, '[1.0, 2.0, 4.0, 8.0, 16.0]'",
    "2:8:x1.5, '[2.0, 3.0, 5.0, 8.0]'"
  })
  void concurrencies(String text, String values) {
    assertEquals(values, LoadRange.of(text, true).values().toString());
  }

  @Test
  void ratesNeedNotBeWhole() {
    assertEquals(List.of(0.5, 1.0, 1.5), LoadRange.of("0.5:1.5:0.5", false).values());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-1", "1.5", "a", "4:2", "1:2:0", "1:8:x1", "1:2:3:4", "1:8:x"})
  void wrongRangesAreRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> LoadRange.of(text, true));
  }

  @ParameterizedTest
  @CsvSource({
    "h, HTTP, http://h:8000",
    "h, GRPC, grpc://h:8001",
    "h:9, , http://h:9",
    "https://h:9/a/, , https://h:9/a",
    "grpcs://h:9, , grpcs://h:9",
    "127.0.0.1:9, GRPC, grpc://127.0.0.1:9",
    "[::1]:9, , http://[::1]:9"
  })
  void addresses(String text, Protocol protocol, String meant) {
    Target target = Target.of(text, protocol, false, noFiles(), Map.of(), "m", "");
    assertEquals(meant, target.toString());
  }

  private static TlsFiles noFiles() {
    return new TlsFiles(Optional.empty(), Optional.empty(), Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ftp://h", "http://h?x=1", "h:9:9", "grpc://h/path", "a b"})
  void wrongAddressesAreRefused(String text) {
    assertThrows(
        IllegalArgumentException.class,
        () -> Target.of(text, null, false, noFiles(), Map.of(), "m", ""));
  }

  @Test
  void theLastThreeWindowsDecide() {
    Stability stability = new Stability(0.1);
    Stability.Window slow = new Stability.Window(50, 1000);
    Stability.Window fast = new Stability.Window(100, 500);
    Stability.Window jittery = new Stability.Window(100, 650);
    assertTrue(!stability.agree(List.of(fast, fast)));
    assertTrue(stability.agree(List.of(slow, fast, fast, fast)));
    assertTrue(!stability.agree(List.of(fast, fast, fast, slow)));
    assertTrue(!stability.agree(List.of(fast, fast, jittery)), "latency counts too");
    Stability.Window none = new Stability.Window(0, 0);
    assertTrue(!stability.agree(List.of(none, none, none)));
  }
}
