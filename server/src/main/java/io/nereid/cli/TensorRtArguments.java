package io.nereid.cli;

import picocli.CommandLine.Option;

/**
 * Where NVIDIA's libraries are: settings of the backend {@code tensorrt}, which loads them late.
 */
final class TensorRtArguments {

  /** Properties that {@code io.nereid.tensorrt} reads. */
  private static final String DIRECTORIES_PROPERTY = "nereid.tensorrt.dir";

  private static final String PLUGINS_PROPERTY = "nereid.tensorrt.plugins";

  @Option(
      names = "--tensorrt-dir",
      paramLabel = "DIRS",
      description = "Directories with TensorRT and libcudart.so.12, separated by colons.")
  private String directories;

  @Option(
      names = "--tensorrt-plugins",
      paramLabel = "FILES",
      description = "Libraries with plugins for TensorRT, separated by colons.")
  private String plugins;

  /** Before the first model is loaded. */
  void apply() {
    set(DIRECTORIES_PROPERTY, directories);
    set(PLUGINS_PROPERTY, plugins);
  }

  private static void set(String property, String value) {
    if (value != null) {
      System.setProperty(property, value);
    }
  }
}
