package io.nereid.server.http;

import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.shared.AnswerCounts;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * The whole cost of counting an answer over HTTP by its route and status. It has one look at the
 * clock: that at the beginning of a request is there for its deadline.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HttpCountingBenchmark extends ServerBenchmark {

  private final RequestLog.Answers answers = new RequestLog.Answers(new AnswerCounts());
  private final String method = new String("POST"); // not the constant, as parsed heads have it

  private final long startNs = System.nanoTime();

  /** Made by JMH. */
  public HttpCountingBenchmark() {}

  @Benchmark
  public void answer() {
    answers.add(method, Endpoint.INFER.label(), 200, System.nanoTime() - startNs);
  }
}
