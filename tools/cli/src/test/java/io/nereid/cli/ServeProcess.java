package io.nereid.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts servers as processes of their own, from the class path of the tests. */
public final class ServeProcess {

  private ServeProcess() {}

  /** Arguments that serve the bundled models on free ports, and more arguments. */
  public static List<String> arguments(String... more) {
    List<String> all = new ArrayList<>(List.of("serve", "--http-port", "0", "--metrics-port", "0"));
    all.addAll(List.of("--grpc-port", "0", "--grpc-address", "127.0.0.1"));
    all.addAll(List.of("--http-address", "127.0.0.1"));
    all.addAll(List.of(more));
    return all;
  }

  /** Starts a class with arguments; its errors go where its output goes. */
  public static Process start(String mainClass, List<String> arguments) throws IOException {
    return start(mainClass, arguments, Map.of());
  }

  /** With more variables in its environment. */
  public static Process start(
      String mainClass, List<String> arguments, Map<String, String> variables) throws IOException {
    return start(command(List.of(), mainClass, arguments), variables);
  }

  /** Without the parts of the class path in whose path one of the texts is. */
  public static Process startWithout(List<String> parts, String mainClass, List<String> arguments)
      throws IOException {
    String left =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> parts.stream().noneMatch(entry::contains))
            .collect(Collectors.joining(File.pathSeparator));
    List<String> command = command(List.of(), mainClass, arguments);
    command.set(command.indexOf("-cp") + 1, left);
    return start(command, Map.of());
  }

  /** From a shell, which runs {@code script} with the command that starts the server as "$@". */
  public static Process startFromShell(
      String script, List<String> jvmOptions, String mainClass, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", script, "sh"));
    command.addAll(command(jvmOptions, mainClass, arguments));
    return start(command, Map.of());
  }

  private static Process start(List<String> command, Map<String, String> variables)
      throws IOException {
    ProcessBuilder process = new ProcessBuilder(command).redirectErrorStream(true);
    process.environment().putAll(variables);
    return process.start();
  }

  private static List<String> command(
      List<String> jvmOptions, String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1"); // most of its life is its start
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--add-exports=java.base/sun.nio.ch=ALL-UNNAMED"); // as the manifest has it
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("-Dnereid.home=../..", mainClass));
    command.addAll(arguments);
    return command;
  }
}
