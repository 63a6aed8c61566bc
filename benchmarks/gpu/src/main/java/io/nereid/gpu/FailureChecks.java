package io.nereid.gpu;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensorrt.CudaRuntime;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;

/** Checks that what goes wrong is said, and costs nothing else. */
final class FailureChecks {

  /** Left when the device's memory is taken away: less than ResNet-50's weights in FP16. */
  private static final long SPARE_BYTES = 16L << 20;

  private static final int ROUNDS = 3;

  /** Then what is made once is there, and all that runs is compiled. */
  private static final int WARM_UP_CYCLES = 15;

  private static final int CYCLES = 20;
  private static final int REQUESTS_PER_CYCLE = 500;
  private static final int CALLERS = 8;

  /** CUDA keeps some memory for itself, which grows in steps of 2 MiB. */
  private static final long DEVICE_BAR_BYTES = 8L << 20;

  /** In TensorRT's words, CUDA's and Nereid's. */
  static final Pattern WANT_OF_MEMORY =
      Pattern.compile("out ?of ?memory|bytes of memory for", Pattern.CASE_INSENSITIVE);

  private static final double RESIDENT_BAR = 1.05;

  private FailureChecks() {}

  /** Plans that are none. */
  static void refusals(Workbench bench, VerifyReport report) throws IOException {
    bench.build(Plans.mlp(), "");
    byte[] plan = Files.readAllBytes(bench.planFile(Plans.MLP));
    refused(bench, report, "half of a plan", Arrays.copyOf(plan, plan.length / 2));
    refused(bench, report, "no plan at all", "this is no plan".getBytes(US_ASCII));
    refused(bench, report, "an empty file", new byte[0]);
  }

  private static void refused(Workbench bench, VerifyReport report, String what, byte[] bytes)
      throws IOException {
    Path file = bench.planFile("broken");
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
    bench.configure("broken", bench.built().get(Plans.MLP).signature(), "");
    try (Nereid nereid = bench.serve(Plans.MLP)) {
      String message = failure(nereid, "broken");
      // The process lives, and what was served before still is.
      Graph graph = Plans.graph(Plans.MLP);
      float[] answer = Rows.infer(nereid.model(Plans.MLP), graph, Rows.random(graph, 1));
      report.verify(
          what,
          !message.isEmpty() && answer.length == graph.outputElements(),
          message.isEmpty() ? "it was loaded" : message,
          "refused with a reason, others served on");
    }
  }

  /** Empty if it loads. */
  private static String failure(Nereid nereid, String model) {
    try {
      nereid.repository().load(model);
      return "";
    } catch (NereidException e) {
      return e.code() + ": " + e.getMessage();
    }
  }

  /** The device's memory is used up by others: the load fails, and works later. */
  static void outOfMemory(Workbench bench, VerifyReport report) throws IOException {
    bench.build(Plans.resNet(), "");
    bench.build(Plans.mlp(), "");
    try (Nereid nereid = bench.serve(Plans.MLP)) {
      List<Pointer> taken = new ArrayList<>();
      String message = "";
      try {
        // Before a load fails, what is kept of earlier models goes back: then that is taken, too.
        for (int round = 0; round < ROUNDS && message.isEmpty(); round++) {
          if (round > 0) {
            nereid.repository().unload(Plans.RESNET);
          }
          take(taken);
          message = failure(nereid, Plans.RESNET);
        }
      } finally {
        taken.forEach(cudart::cudaFree);
      }
      report.verify(
          "no memory for a model",
          WANT_OF_MEMORY.matcher(message).find(),
          message.isEmpty() ? "it was loaded" : message,
          "refused for want of memory");
      String later = failure(nereid, Plans.RESNET);
      report.verify(
          "when there is memory again",
          later.isEmpty(),
          later.isEmpty() ? "loaded" : later,
          "loaded");
      Graph graph = Plans.graph(Plans.MLP);
      float[] answer = Rows.infer(nereid.model(Plans.MLP), graph, Rows.random(graph, 1));
      report.verify(
          "the model beside it",
          answer.length == graph.outputElements(),
          answer.length + " values",
          "served all along");
    }
  }

  /** Takes the device's memory in smaller and smaller pieces, down to a rest. */
  private static void take(List<Pointer> taken) {
    long piece = freeBytes() - SPARE_BYTES;
    while (freeBytes() > SPARE_BYTES + (2 << 20) && piece > 1 << 20) {
      Pointer pointer = new Pointer();
      if (cudart.cudaMalloc(pointer, piece) == cudart.cudaSuccess) {
        taken.add(pointer);
        piece = Math.min(piece, freeBytes() - SPARE_BYTES);
      } else {
        cudart.cudaGetLastError(); // it stays in the thread otherwise
        piece /= 2;
      }
    }
  }

  private static long freeBytes() {
    try (SizeTPointer free = new SizeTPointer(1);
        SizeTPointer total = new SizeTPointer(1)) {
      CudaRuntime.check(cudart.cudaMemGetInfo(free, total), "cudaMemGetInfo");
      return free.get();
    }
  }

  /** The model comes and goes, and takes what it took with it. */
  static void leaks(Workbench bench, VerifyReport report) throws Exception {
    bench.build(Plans.convolutions(bench), "");
    bench.build(Plans.mlp(), "");
    Graph graph = Plans.graph(Plans.CONVOLUTIONS);
    double[] row = Rows.random(graph, 3);
    long free = 0;
    long resident = 0;
    try (Nereid nereid = bench.serve(Plans.MLP)) {
      for (int cycle = -WARM_UP_CYCLES; cycle < CYCLES; cycle++) {
        if (cycle == 0) {
          System.gc();
          free = freeBytes();
          resident = residentBytes();
        }
        nereid.repository().load(Plans.CONVOLUTIONS);
        Model model = nereid.model(Plans.CONVOLUTIONS);
        // Each instance takes its memory from the device when it first executes, and what models
        // gave back
        // is kept for the next: all of them have to be busy once before the count begins.
        try (ExecutorService callers = Executors.newFixedThreadPool(cycle < 0 ? CALLERS : 1)) {
          Callable<float[]> call = () -> Rows.infer(model, graph, row);
          for (Future<float[]> answer :
              callers.invokeAll(Collections.nCopies(REQUESTS_PER_CYCLE, call))) {
            answer.get();
          }
        }
        nereid.repository().unload(Plans.CONVOLUTIONS);
      }
      System.gc();
      long leaked = free - freeBytes();
      report.verify(
          CYCLES * REQUESTS_PER_CYCLE + " requests, " + CYCLES + " loads: device memory",
          leaked <= DEVICE_BAR_BYTES,
          mib(leaked) + " less is free than before",
          "<= " + mib(DEVICE_BAR_BYTES));
      double growth = residentBytes() / (double) resident;
      report.verify(
          "resident memory",
          growth <= RESIDENT_BAR,
          String.format(Locale.ROOT, "%.3f times that before, %s", growth, mib(resident)),
          "<= " + RESIDENT_BAR + " times");
      ServingChecks.empty(report, nereid);
    }
  }

  /**
   * The resident memory of the process without the free part of the heap, which gpu/verify has
   * touched at once.
   */
  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        long all = Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
        return all - Runtime.getRuntime().freeMemory();
      }
    }
    throw new IOException("expected VmRSS in /proc/self/status, found none");
  }

  private static String mib(long bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
  }
}
