package io.nereid.gpu;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Checks requests that meet: in batches, while they are cancelled, while the model is replaced. */
final class ServingChecks {

  private static final int REQUESTS = 512;
  private static final double BAR = 1e-4;

  private static final int ROUNDS = 8;

  /** No multiple of the largest batch: the last one waits for more, and can be cancelled. */
  private static final int PER_ROUND = 120;

  private static final String DELAYED =
      "dynamic_batching { max_queue_delay_microseconds: 5000 }\n"
          + "instance_group { kind: KIND_GPU count: 2 }\n";

  private ServingChecks() {}

  /** Different requests share batches, and each gets its own answer. */
  static void batching(Workbench bench, VerifyReport report) throws Exception {
    bench.build(Plans.convolutions(bench), DELAYED);
    Graph graph = Plans.graph(Plans.CONVOLUTIONS);
    double[][] rows = new double[8][];
    double[][] expected = new double[rows.length][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = Rows.random(graph, 100 + i);
      expected[i] = GraphReference.evaluate(graph, rows[i]);
    }
    try (Nereid nereid = bench.serve(Plans.CONVOLUTIONS)) {
      Model model = nereid.model(Plans.CONVOLUTIONS);
      List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
      List<InferRequest> requests = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        InferRequest request = Rows.request(model, graph, rows[i % rows.length]);
        requests.add(request);
        answers.add(request.inferAsync());
      }
      double worst = 0;
      for (int i = 0; i < REQUESTS; i++) {
        try (InferResponse response = answers.get(i).get()) {
          float[] answer = response.output(Graph.OUTPUT).toFloatArray();
          worst = Math.max(worst, Rows.error(answer, 0, expected[i % rows.length]));
        }
      }
      requests.forEach(InferRequest::close);
      long batches = model.statistics().executionCount();
      report.verify(
          REQUESTS + " requests of one row",
          worst <= BAR,
          "worst error " + worst,
          "<= " + BAR + ", each its own answer");
      report.verify(
          "batches of them",
          batches < REQUESTS / 4,
          batches + " executions",
          "fewer than " + REQUESTS / 4);
      empty(report, nereid);
    }
  }

  /** Some give up; nobody else is harmed and nothing is left. */
  static void cancel(Workbench bench, VerifyReport report) throws Exception {
    bench.build(Plans.convolutions(bench), DELAYED);
    Graph graph = Plans.graph(Plans.CONVOLUTIONS);
    double[] row = Rows.random(graph, 1);
    double[] expected = GraphReference.evaluate(graph, row);
    try (Nereid nereid = bench.serve(Plans.CONVOLUTIONS)) {
      Model model = nereid.model(Plans.CONVOLUTIONS);
      long cancelled = 0;
      long wrong = 0;
      for (int round = 0; round < ROUNDS; round++) {
        List<InferRequest> requests = new ArrayList<>();
        List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
        for (int i = 0; i < PER_ROUND; i++) {
          InferRequest request = Rows.request(model, graph, row);
          requests.add(request);
          answers.add(request.inferAsync());
        }
        for (int i = 0; i < requests.size(); i += 2) {
          requests.get(i).cancel();
        }
        for (int i = 0; i < requests.size(); i++) {
          try (InferResponse response = answers.get(i).join()) {
            double error = Rows.error(response.output(Graph.OUTPUT).toFloatArray(), 0, expected);
            wrong += error <= BAR ? 0 : 1;
          } catch (CompletionException e) {
            boolean asked = i % 2 == 0 && isCancelled(e.getCause());
            cancelled += asked ? 1 : 0;
            wrong += asked ? 0 : 1;
          }
        }
        requests.forEach(InferRequest::close);
      }
      report.verify(
          "half of " + ROUNDS * PER_ROUND + " requests are cancelled",
          wrong == 0 && cancelled > 0,
          cancelled + " cancelled in time, " + wrong + " wrong",
          "some cancelled, none wrong");
      empty(report, nereid);
    }
  }

  private static boolean isCancelled(Throwable cause) {
    return cause instanceof NereidException e && e.code() == StatusCode.CANCELLED;
  }

  /** The plan is replaced several times under load. */
  static void reload(Workbench bench, VerifyReport report) throws Exception {
    bench.build(Plans.convolutions(bench), DELAYED);
    Graph graph = Plans.graph(Plans.CONVOLUTIONS);
    double[] row = Rows.random(graph, 2);
    double[] expected = GraphReference.evaluate(graph, row);
    AtomicLong answered = new AtomicLong();
    AtomicReference<String> failure = new AtomicReference<>("");
    AtomicBoolean ends = new AtomicBoolean();
    int reloads = 5;
    try (Nereid nereid = bench.serve(Plans.CONVOLUTIONS)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        threads.add(
            Thread.ofVirtual()
                .name("nrd-verify-load")
                .start(() -> {
                  while (!ends.get()) {
                    try {
                      Model model = nereid.model(Plans.CONVOLUTIONS);
                      double error = Rows.error(Rows.infer(model, graph, row), 0, expected);
                      if (error > BAR) {
                        failure.compareAndSet("", "error " + error);
                      }
                      answered.incrementAndGet();
                    } catch (RuntimeException e) {
                      failure.compareAndSet("", String.valueOf(e.getMessage()));
                    }
                  }
                }));
      }
      Path plan = bench.planFile(Plans.CONVOLUTIONS);
      for (int i = 1; i <= reloads; i++) {
        Thread.sleep(300);
        Files.setLastModifiedTime(
            plan, FileTime.fromMillis(System.currentTimeMillis() + 1000L * i));
        nereid.repository().load(Plans.CONVOLUTIONS);
      }
      ends.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
      report.verify(
          reloads + " reloads under load",
          failure.get().isEmpty() && answered.get() > 0,
          answered + " right answers" + (failure.get().isEmpty() ? "" : "; " + failure),
          "no request fails");
      empty(report, nereid);
    }
  }

  /** Nothing of the pool is in use when nobody asks any more. */
  static void empty(VerifyReport report, Nereid nereid) {
    long live = nereid.poolStatistics().liveBuffers();
    report.verify("buffers that are left", live == 0, Long.toString(live), "0");
  }
}
