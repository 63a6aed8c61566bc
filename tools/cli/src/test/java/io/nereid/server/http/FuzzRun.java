package io.nereid.server.http;

import io.nereid.cli.SettingsFuzz;
import io.nereid.server.grpc.MessageFuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Fuzzes in a process of its own, which Jazzer instruments: {@code FuzzRun TARGET SECONDS
 * DIRECTORY}. What was found interesting stays in the directory, for the next time, beside the
 * inputs that failed.
 */
final class FuzzRun {

  /** What can be fuzzed. */
  enum Target {
    HTTP(HttpFuzz.class, FuzzSeeds::http),
    JSON(JsonFuzz.class, FuzzSeeds::json),
    GRPC(MessageFuzz.class, MessageFuzz::seeds),
    SETTINGS(SettingsFuzz.class, FuzzSeeds::settings);

    final Class<?> type;
    private final Callable<List<byte[]>> seeds;

    Target(Class<?> type, Callable<List<byte[]>> seeds) {
      this.type = type;
      this.seeds = seeds;
    }

    List<byte[]> seeds() throws Exception {
      return seeds.call();
    }

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private FuzzRun() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 3) {
      throw new IllegalArgumentException("expected TARGET SECONDS DIRECTORY");
    }
    Target target = Target.valueOf(args[0].toUpperCase(Locale.ROOT));
    Process process =
        command(target, Integer.parseInt(args[1]), Path.of(args[2])).inheritIO().start();
    System.exit(process.waitFor());
  }

  /** Writes the seeds into the directory, and tells how to start. */
  static ProcessBuilder command(Target target, int seconds, Path directory) throws Exception {
    Path corpus = Files.createDirectories(directory.resolve(target.word()));
    List<byte[]> seeds = target.seeds();
    for (int i = 0; i < seeds.size(); i++) {
      Files.write(corpus.resolve("seed-" + i), seeds.get(i));
    }
    Path words = directory.resolve("words.dict");
    writeDictionary(words);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow", // Jazzer's own
            "-XX:+EnableDynamicAgentLoading",
            "-Xmx1g",
            "-Xss2m",
            "-cp",
            System.getProperty("java.class.path"),
            "com.code_intelligence.jazzer.Jazzer",
            "--target_class=" + target.type.getName(),
            // The first breaks Netty's own uses of Unsafe. The second takes the client of the test,
            // which connects to the server, for an attack.
            "--disabled_hooks=com.code_intelligence.jazzer.sanitizers.UnsafeSanitizer:"
                + "com.code_intelligence.jazzer.sanitizers.ServerSideRequestForgery",
            "--instrumentation_includes=io.nereid.server.**:io.nereid.cli.**",
            "--reproducer_path=" + directory,
            "-max_total_time=" + seconds,
            "-timeout=30",
            "-rss_limit_mb=4096",
            "-max_len=4096",
            "-print_final_stats=1",
            "-dict=" + words,
            "-artifact_prefix=" + directory + "/" + target.word() + "-",
            corpus.toString()));
    return new ProcessBuilder(command);
  }

  /** Words that chance would take long to find. */
  private static void writeDictionary(Path file) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String word : FuzzSeeds.WORDS) {
      text.append('"');
      for (byte b : word.getBytes(StandardCharsets.UTF_8)) {
        text.append("\\x").append(HexFormat.of().toHexDigits(b));
      }
      text.append("\"\n");
    }
    Files.writeString(file, text);
  }
}
