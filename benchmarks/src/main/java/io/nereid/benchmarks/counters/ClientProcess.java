package io.nereid.benchmarks.counters;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;

/** A process of {@link ClientMain}. */
final class ClientProcess implements AutoCloseable {

  private static final int PAUSE_US = 2000;

  private final Process process;
  private final Writer out;
  private final BufferedReader in;

  /** Starts it; {@code protocol} is http or grpc. */
  ClientProcess(String protocol, int port) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                ClientMain.class.getName(),
                protocol,
                Integer.toString(port))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    out = process.outputWriter();
    in = process.inputReader();
  }

  /** Has it make requests; returns when they are answered. */
  void make(int count) throws IOException {
    make(count, 0);
  }

  /** The same with pauses, so that each request finds a server that waits for it. */
  void makeSlowly(int count) throws IOException {
    make(count, PAUSE_US);
  }

  private void make(int count, int pauseUs) throws IOException {
    out.write(count + " " + pauseUs + "\n");
    out.flush();
    String said = in.readLine();
    if (!"done".equals(said)) {
      throw new IOException("expected the client to be done, it said " + said);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }
}
