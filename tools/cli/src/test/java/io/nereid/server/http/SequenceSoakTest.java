package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hundreds of sequences with cancels and reloads, over HTTP and gRPC; for more: ./dev soak. */
@Tag("slow")
class SequenceSoakTest {

  private static final int SEQUENCES = 300;
  private static final int CLIENTS = 64;

  @Test
  void everySumIsRightAndNothingIsLeft() throws Exception {
    SequenceSoak soak = new SequenceSoak();
    Soak.Verdict verdict = soak.run(CLIENTS, () -> soak.begun() < SEQUENCES);
    assertEquals(List.of(), verdict.faults(), verdict.figures());
    assertTrue(soak.ended.sum() > SEQUENCES * 9 / 10, verdict.figures());
    assertTrue(soak.cancelled.sum() > 0 && soak.reloads.sum() > 2, verdict.figures());
  }
}
