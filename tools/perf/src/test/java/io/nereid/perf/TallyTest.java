package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Percentiles are those of the recorded values, over any number of tallies and windows. */
class TallyTest {

  @Test
  void percentilesAreThoseOfTheSortedValues() {
    Random random = new Random(2);
    for (int run = 0; run < 20; run++) {
      int count = 1 + random.nextInt(5000);
      long[] values = new long[count];
      Tally[] tallies = {new Tally(), new Tally(), new Tally()};
      Tally.Counts sum = new Tally.Counts();
      for (int i = 0; i < count; i++) {
        values[i] = (long) Math.exp(20 * random.nextDouble());
        tallies[random.nextInt(3)].success(values[i], 2);
        if (random.nextInt(1000) == 0) {
          Tally.Counts window = new Tally.Counts();
          tallies[random.nextInt(3)].drainInto(window);
          sum.add(window);
        }
      }
      for (Tally tally : tallies) {
        tally.drainInto(sum);
        tally.drainInto(sum); // there is nothing left to count twice
      }
      Arrays.sort(values);
      assertEquals(count, sum.latency().getTotalCount());
      assertEquals(2L * count, Arrays.stream(tallies).mapToLong(Tally::rows).sum());
      for (double percentile : PerfReport.PERCENTILES) {
        long exact = values[(int) Math.max(0, Math.ceil(percentile / 100 * count - 1e-9) - 1)];
        long told = sum.latency().getValueAtPercentile(percentile);
        assertEquals(exact, told, 1 + exact / 1000.0, "p" + percentile + " of " + count);
      }
      long longest = values[count - 1];
      assertEquals(longest, sum.latency().getMaxValue(), 1 + longest / 1000.0);
    }
  }

  @Test
  void errorsAreCountedByStatus() {
    Tally tally = new Tally();
    tally.error("HTTP 503");
    tally.error("HTTP 503");
    tally.error("connection");
    Tally.Counts counts = new Tally.Counts();
    tally.drainInto(counts);
    assertEquals("{HTTP 503=2, connection=1}", counts.errors().toString());
    assertEquals(3, counts.errorCount());
  }
}
