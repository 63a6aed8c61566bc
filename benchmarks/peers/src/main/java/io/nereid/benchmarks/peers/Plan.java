package io.nereid.benchmarks.peers;

import java.util.List;
import java.util.Locale;

/** Cases that a fork runs together, and who runs them beside Nereid. */
enum Plan {
  IDENTITY("The identity model", List.of(Side.TRITON, Side.TRITON_JAVACPP), Case.identity()),
  ONNX("ONNX models", List.of(Side.ONNXRUNTIME, Side.ONNXRUNTIME_ASLEEP, Side.DJL), Case.onnx());

  final String title;
  private final List<Side> peers;
  private final List<Case> cases;

  Plan(String title, List<Side> peers, List<Case> cases) {
    this.title = title;
    this.peers = peers;
    this.cases = cases;
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  List<Side> peers() {
    return peers;
  }

  List<Case> cases() {
    return cases;
  }
}
