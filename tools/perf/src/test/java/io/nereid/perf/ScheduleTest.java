package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** When requests of an open loop are due. */
class ScheduleTest {

  private static long[] times(Schedule schedule, int count) {
    long[] times = new long[count];
    for (int i = 0; i < count; i++) {
      times[i] = schedule.takeDue(Long.MAX_VALUE / 2);
    }
    return times;
  }

  @Test
  void aConstantRateDoesNotDrift() {
    Random random = new Random(1);
    for (int run = 0; run < 50; run++) {
      double rate = Math.pow(10, 6 * random.nextDouble());
      long[] times = times(new Schedule(rate, false, 0, 1000), 10_000);
      for (int i = 0; i < times.length; i++) {
        assertEquals(1000 + i * 1e9 / rate, times[i], 1 + 1e-12 * times[i], "at " + rate);
      }
    }
  }

  @Test
  void poissonGapsAreExponentialAndIndependent() {
    for (int seed = 0; seed < 5; seed++) {
      double rate = 1000;
      long[] times = times(new Schedule(rate, true, seed, 0), 50_001);
      double[] gaps = new double[times.length - 1];
      for (int i = 0; i < gaps.length; i++) {
        gaps[i] = (times[i + 1] - times[i]) / 1e9;
        assertTrue(gaps[i] >= 0);
      }
      double mean = Arrays.stream(gaps).average().orElseThrow();
      assertEquals(1 / rate, mean, 0.03 / rate);
      double product = 0;
      for (int i = 1; i < gaps.length; i++) {
        product += (gaps[i] - mean) * (gaps[i - 1] - mean);
      }
      assertEquals(0, product / gaps.length / (mean * mean), 0.03, "one gap tells of the next");
      Arrays.sort(gaps);
      // Kolmogorov's and Smirnov's distance; 1.95 / sqrt(n) is passed by chance once in 1000.
      double distance = 0;
      for (int i = 0; i < gaps.length; i++) {
        double expected = 1 - Math.exp(-rate * gaps[i]);
        distance = Math.max(distance, Math.abs(expected - (i + 0.5) / gaps.length));
      }
      assertTrue(distance < 1.95 / Math.sqrt(gaps.length), "distance " + distance);
    }
  }

  @Test
  void theSameSeedIsTheSameSchedule() {
    long[] first = times(new Schedule(500, true, 7, 0), 100);
    assertTrue(Arrays.equals(first, times(new Schedule(500, true, 7, 0), 100)));
    assertTrue(!Arrays.equals(first, times(new Schedule(500, true, 8, 0), 100)));
  }

  @Test
  void nothingIsDueBeforeItsTimeAndNothingIsLost() {
    Schedule schedule = new Schedule(1000, false, 0, 0);
    assertEquals(0, schedule.takeDue(0));
    assertEquals(Schedule.NONE, schedule.takeDue(999_999));
    assertEquals(1_000_000, schedule.nextNs());
    assertEquals(0, schedule.backlog(999_999));
    assertEquals(10, schedule.backlog(10_500_000), "1 to 10 ms are due");
    for (int i = 1; i <= 10; i++) {
      assertEquals(i * 1_000_000L, schedule.takeDue(10_500_000), "late ones keep their times");
    }
    assertEquals(Schedule.NONE, schedule.takeDue(10_500_000));
  }
}
