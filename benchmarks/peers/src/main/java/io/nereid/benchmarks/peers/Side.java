package io.nereid.benchmarks.peers;

import java.util.Locale;

/** The runtimes that may answer the requests of a fork. */
enum Side {
  NEREID("Nereid"),
  TRITON("Triton's core"),
  TRITON_JAVACPP("Triton's core by JavaCPP"),
  ONNXRUNTIME("ONNX Runtime's Java API"),
  ONNXRUNTIME_ASLEEP("ONNX Runtime's Java API, no spinning"),
  DJL("DJL");

  final String label;

  Side(String label) {
    this.label = label;
  }

  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The name that the command line has for it. */
  @Override
  public String toString() {
    return id();
  }
}
