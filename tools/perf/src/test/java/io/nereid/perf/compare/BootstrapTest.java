package io.nereid.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.compare.Bootstrap.Estimate;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BootstrapTest {

  private static final int TRIALS = 800;

  /** Noise of a machine with other work on it: mostly mild, now and then wild, to either side. */
  private static double noise(Random random) {
    double mild = 0.04 * random.nextGaussian();
    return random.nextInt(10) == 0 ? mild + 0.3 * random.nextGaussian() : mild;
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 6, 10, 20})
  void theIntervalHoldsTheTruthAsOftenAsItSays(int pairCount) {
    Random random = new Random(17);
    double truth = Math.log(1.1);
    int held = 0;
    for (int i = 0; i < TRIALS; i++) {
      double[] values = random.doubles(pairCount).map(u -> truth + noise(random)).toArray();
      Estimate estimate = Bootstrap.estimate(values, 1, i);
      if (estimate.low() <= 1.1 && estimate.high() >= 1.1) {
        held++;
      }
    }
    // 95 % is 760, and three standard deviations of such a count are 19.
    assertTrue(held >= 741, "held the truth " + held + " times of " + TRIALS);
  }

  @Test
  void wildPairsDoNotMoveTheEstimateFar() {
    double[] values = new double[20];
    Random random = new Random(3);
    for (int i = 0; i < values.length; i++) {
      values[i] = 0.01 * random.nextGaussian();
    }
    values[3] = Math.log(4);
    values[11] = Math.log(2.5);
    values[17] = Math.log(3);
    assertEquals(1, Bootstrap.estimate(values, 1, 1).ratio(), 0.02);
  }

  @Test
  void moreComparisonsWidenWhatJudges() {
    double[] values = {0.08, 0.11, 0.09, 0.12, 0.1, 0.07};
    Estimate alone = Bootstrap.estimate(values, 1, 1);
    Estimate ofMany = Bootstrap.estimate(values, 40, 1);
    assertEquals(alone.low(), alone.strictLow());
    assertEquals(alone.low(), ofMany.low());
    assertTrue(ofMany.strictLow() < alone.strictLow());
    assertTrue(ofMany.strictHigh() > alone.strictHigh());
  }

  @Test
  void theSameForksGiveTheSameInterval() {
    double[] values = {0.08, 0.11, 0.09, 0.12, 0.1, 0.07};
    assertEquals(Bootstrap.estimate(values, 3, 5), Bootstrap.estimate(values, 3, 5));
  }

  @Test
  void fewerThanFourPairsHaveNoInterval() {
    assertThrows(
        IllegalArgumentException.class, () -> Bootstrap.estimate(new double[] {1, 2, 3}, 1, 1));
  }

  @Test
  void aFifthAtEitherEndDoesNotCount() {
    assertEquals(3, Bootstrap.trimmedMean(new double[] {100, 4, -50, 2, 3}));
    assertEquals(25.5, Bootstrap.trimmedMean(new double[] {100, -1, 1, 2})); // too few to cut
  }
}
