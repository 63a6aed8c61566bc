package io.nereid.benchmarks.peers;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The cases that a fork runs together, and the sides that run them. */
enum Plan {
  IDENTITY("The identity model", List.of(Side.NEREID, Side.TRITON), identity()),
  ONNX(
      "ONNX models",
      List.of(Side.NEREID, Side.ONNXRUNTIME, Side.ONNXRUNTIME_ASLEEP, Side.DJL),
      List.of(
          new Case(Workload.DIGITS, false, 1),
          new Case(Workload.DIGITS, false, 8),
          new Case(Workload.DIGITS, false, 64),
          new Case(Workload.MINILM, false, 1),
          new Case(Workload.MINILM, false, 8)));

  final String title;
  final List<Side> sides;
  final List<Case> cases;

  Plan(String title, List<Side> sides, List<Case> cases) {
    this.title = title;
    this.sides = sides;
    this.cases = cases;
  }

  private static List<Case> identity() {
    return Stream.of(Workload.IDENTITY_SMALL, Workload.IDENTITY_LARGE)
        .flatMap(workload ->
            Stream.of(false, true)
                .flatMap(calls -> Stream.of(1, 8, 64).map(n -> new Case(workload, calls, n))))
        .toList();
  }

  /** A runtime that answers the requests of a fork. */
  enum Side {
    NEREID("Nereid"),
    TRITON("Triton's core"),
    ONNXRUNTIME("ONNX Runtime's Java API"),
    ONNXRUNTIME_ASLEEP("ONNX Runtime's Java API, no spinning"),
    DJL("DJL");

    final String label;

    Side(String label) {
      this.label = label;
    }

    /** The name on the command line and in the names of files. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** A model and the input of its requests, the same for every side. */
  enum Workload {
    IDENTITY_SMALL("identity, 64 B"),
    IDENTITY_LARGE("identity, 602 112 B"),
    DIGITS("digits"),
    MINILM("MiniLM, 16 tokens");

    final String label;

    Workload(String label) {
      this.label = label;
    }
  }

  /**
   * One figure to be taken.
   *
   * @param callbacks the thread that brings an answer sends the next request; else a virtual thread
   *     for each request in flight sends it and waits
   * @param inFlight the number of requests that are in flight at any time
   */
  record Case(Workload workload, boolean callbacks, int inFlight) {

    String label() {
      return workload.label + (callbacks ? ", callbacks" : ", waiting threads");
    }

    /** The name in results; stable. */
    String id() {
      String mode = callbacks ? "callback" : "waiting";
      return (workload + "." + mode + "." + inFlight).toLowerCase(Locale.ROOT);
    }
  }
}
