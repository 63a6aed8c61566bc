package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import org.junit.jupiter.api.Test;

class HistogramTest {

  private static final long[] BOUNDS = {10, 20, 40};

  @Test
  void percentilesAreTheBoundsOfTheirBuckets() {
    Histogram histogram = new Histogram(BOUNDS, new long[] {50, 49, 1});
    assertEquals(10, histogram.percentileNs(0));
    assertEquals(10, histogram.percentileNs(50));
    assertEquals(20, histogram.percentileNs(50.1));
    assertEquals(20, histogram.percentileNs(99));
    assertEquals(40, histogram.percentileNs(100));
    assertEquals(0, new Histogram(BOUNDS, new long[3]).percentileNs(50));
    assertThrows(IllegalArgumentException.class, () -> histogram.percentileNs(101));
    assertThrows(IllegalArgumentException.class, () -> histogram.percentileNs(Double.NaN));
  }

  @Test
  void mergingAdds() {
    Histogram one = new Histogram(BOUNDS, new long[] {1, 2, 3});
    Histogram both = one.merge(new Histogram(BOUNDS.clone(), new long[] {10, 20, 30}));
    assertEquals(66, both.count());
    assertEquals(22, both.count(1));
    assertEquals(20, both.bucketNs(1));
    assertEquals(3, both.bucketCount());
    assertEquals(6, one.count());
    Histogram other = new Histogram(new long[] {1}, new long[] {1});
    assertThrows(IllegalArgumentException.class, () -> one.merge(other));
  }

  @Test
  void meansOfNothingAreZero() {
    assertEquals(0, new DurationStatistic(0, 0).meanNs());
    assertEquals(2.5, new DurationStatistic(2, 5).meanNs());
  }
}
