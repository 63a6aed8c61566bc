package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server process under full load, with all that clients do wrong. */
@Tag("slow")
class HttpSoakTest {

  private static final int SECONDS = 6;
  private static final int CONNECTIONS = 16;

  @Test
  void nothingIsLeftAfterLoad() throws Exception {
    try (HttpSoak soak = HttpSoak.start()) {
      Soak.Verdict verdict = soak.run(SECONDS, CONNECTIONS);
      assertEquals(List.of(), verdict.faults(), verdict.figures());
      assertTrue(soak.answered.sum() > CONNECTIONS, verdict.figures()); // a slow machine does few
      assertTrue(soak.attacks().stream().allMatch(count -> count > 0), verdict.figures());
    }
  }
}
