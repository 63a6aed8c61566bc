package io.nereid.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the tables that statistics books have. */
class StudentTTest {

  @ParameterizedTest
  @CsvSource({
    "0.025, 1, 12.7062",
    "0.025, 3, 3.1824",
    "0.025, 9, 2.2622",
    "0.005, 3, 5.8409",
    "0.005, 30, 2.7500",
    "0.025, 120, 1.9799",
  })
  void quantilesAreThoseOfTheTables(double tail, int freedom, double quantile) {
    assertEquals(quantile, StudentT.quantile(tail, freedom), 0.0002);
  }
}
