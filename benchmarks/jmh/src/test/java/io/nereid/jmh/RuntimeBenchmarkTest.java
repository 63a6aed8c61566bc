package io.nereid.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** JMH itself runs the benchmark that the documentation shows. */
class RuntimeBenchmarkTest {

  @Test
  void theExampleIsMeasured() throws Exception {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(EchoBenchmark.class.getName())
                    .forks(0)
                    .warmupIterations(1)
                    .warmupTime(TimeValue.milliseconds(20))
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(50))
                    .shouldFailOnError(true)
                    .build())
            .run();
    assertEquals(1, results.size());
    assertTrue(results.iterator().next().getPrimaryResult().getScore() > 0);
  }
}
