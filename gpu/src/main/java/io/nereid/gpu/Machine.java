package io.nereid.gpu;

import io.nereid.tensorrt.CudaDevice;
import io.nereid.tensorrt.TensorRtLibrary;

/** Says what the suite runs on. */
final class Machine {

  private Machine() {}

  static void describe(Report report) {
    TensorRtLibrary library = TensorRtLibrary.load();
    report.begin("machine");
    for (CudaDevice device : library.cuda().devices()) {
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
