package io.nereid.perf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Starts classes of the tests in processes of their own. */
public final class JavaProcess {

  private JavaProcess() {}

  /** Starts a class with arguments; its errors go where its output goes. */
  public static Process start(Class<?> main, Object... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(Arrays.stream(arguments).map(Object::toString).toList());
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }
}
