package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

  private static final long MS = 1_000_000;

  private static final RetryPolicy POLICY =
      new RetryPolicy(10, Duration.ofMillis(50), Duration.ofSeconds(2), false);

  private static InferenceException busy(long retryAfterNs) {
    return InferenceException.builder(StatusCode.UNAVAILABLE, "busy")
        .worthRetrying(true)
        .retryAfterNs(retryAfterNs)
        .build();
  }

  @Test
  void pausesDoubleUpToTheLongestAndVary() {
    Random random = new Random(1);
    long[] fullMs = {50, 100, 200, 400, 800, 1600, 2000, 2000, 2000};
    for (int attempts = 1; attempts < 10; attempts++) {
      long least = Long.MAX_VALUE;
      long most = 0;
      for (int i = 0; i < 1000; i++) {
        long pauseNs = POLICY.pauseNs(attempts, busy(0), RetryPolicy.CallKind.READ, random);
        least = Math.min(least, pauseNs);
        most = Math.max(most, pauseNs);
      }
      long fullNs = fullMs[attempts - 1] * MS;
      assertTrue(
          least >= fullNs / 2 && least < fullNs * 0.52, "attempt " + attempts + ": " + least);
      assertTrue(most <= fullNs && most > fullNs * 0.98, "attempt " + attempts + ": " + most);
    }
    assertEquals(-1, POLICY.pauseNs(10, busy(0), RetryPolicy.CallKind.READ, random));
  }

  @Test
  void theServersWishIsHeardUpToTheLongest() {
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      long pauseNs = POLICY.pauseNs(1, busy(1000 * MS), RetryPolicy.CallKind.READ, random);
      assertTrue(pauseNs >= 1000 * MS && pauseNs <= 1025 * MS);
      pauseNs = POLICY.pauseNs(1, busy(3_600_000 * MS), RetryPolicy.CallKind.READ, random);
      assertTrue(pauseNs >= 2000 * MS && pauseNs <= 2025 * MS);
    }
  }

  @Test
  void nonsenseIsRefused() {
    Duration ms = Duration.ofMillis(1);
    assertThrows(IllegalArgumentException.class, () -> new RetryPolicy(0, ms, ms, false));
    assertThrows(
        IllegalArgumentException.class, () -> new RetryPolicy(1, ms, Duration.ZERO, false));
    assertThrows(IllegalArgumentException.class, () -> new RetryPolicy(1, ms.negated(), ms, false));
    Duration centuries = Duration.ofSeconds(Long.MAX_VALUE);
    assertThrows(IllegalArgumentException.class, () -> new RetryPolicy(1, ms, centuries, false));
  }
}
