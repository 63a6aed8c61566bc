package io.nereid.gpu;

import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.TensorRtLibrary;

/** Says what the suite runs on. */
final class Machine {

  /** What the devices of gpu/rehearsal are called. */
  private static final String REHEARSAL = "Nereid's rehearsal, no GPU";

  private Machine() {}

  /** Whether libraries that compute on the processor stand in for NVIDIA's. */
  static boolean isRehearsal() {
    return TensorRtLibrary.missing().isEmpty()
        && TensorRtLibrary.load().cuda().devices().getFirst().name().equals(REHEARSAL);
  }

  static void describe(Report report) {
    TensorRtLibrary library = TensorRtLibrary.load();
    report.begin("machine");
    if (isRehearsal()) {
      report.rehearse();
    }
    for (Gpu device : library.cuda().devices()) {
      String text =
          device.name()
              + ", compute capability "
              + device.computeCapability()
              + ", "
              + (device.memoryBytes() >> 20)
              + " MiB";
      report.machine("gpu_" + device.number(), text);
      report.info("GPU " + device.number(), text);
    }
    report.machine("driver_cuda", library.cuda().driverVersion());
    report.machine("tensorrt", library.version().toString());
    report.machine("java", Runtime.version().toString());
    report.machine("processors", Runtime.getRuntime().availableProcessors());
    report.machine("kernel", System.getProperty("os.version"));
    report.info("driver's CUDA", library.cuda().driverVersion());
    report.info("TensorRT", library.version() + " from " + library.location());
    report.info("CUDA runtime", "from " + library.cuda().location());
  }
}
