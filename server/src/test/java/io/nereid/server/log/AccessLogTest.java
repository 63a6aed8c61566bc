package io.nereid.server.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.http.TestServer;
import io.nereid.types.NereidException;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** A line for each request. */
class AccessLogTest {

  @TempDir private Path directory;

  private Path logFile;
  private Path accessFile;
  private LogSettings log;

  @BeforeEach
  void install() {
    logFile = directory.resolve("log");
    accessFile = directory.resolve("access");
    log = LogSettings.install(LogValues.DEFAULT, Optional.of(logFile));
  }

  @AfterEach
  void close() {
    log.close();
  }

  private static AccessLog.Entry entry(String path, String model, long version) {
    return new AccessLog.Entry(
        Instant.parse("2026-01-02T03:04:05.678Z"),
        "10.0.0.1:5",
        "HTTP/1.1",
        "POST",
        path,
        200,
        12,
        34,
        56,
        "i\"d\n",
        model,
        version);
  }

  private static void write(AccessLog access, AccessLog.Entry... entries) {
    for (AccessLog.Entry entry : entries) {
      access.add(entry);
    }
    access.close(TestServer.PATIENCE);
  }

  @Test
  void linesHaveTheFormOfTheLog() throws Exception {
    AccessLog.Entry infer = entry("/v2/models/a%20b/infer", "a b", 3);
    write(AccessLog.toFile(accessFile, log), infer);
    log.change(Map.of("log_format", "json"));
    write(AccessLog.toFile(accessFile, log), infer, entry("/v2", "", 0));
    List<String> lines = Files.readAllLines(accessFile);
    assertEquals(3, lines.size());
    assertEquals(
        "2026-01-02T03:04:05.678Z INFO io.nereid.access: 10.0.0.1:5 \"POST /v2/models/a%20b/infer"
            + " HTTP/1.1\" 200 in=12 out=34 us=56 id=\"i\\\"d\\n\" model=\"a b\" version=3",
        lines.getFirst());
    Map<String, Object> line = JSON.std.mapFrom(lines.get(1));
    assertEquals("2026-01-02T03:04:05.678Z", line.get("timestamp"));
    assertEquals("io.nereid.access", line.get("logger"));
    assertEquals("10.0.0.1:5", line.get("client"));
    assertEquals("POST", line.get("method"));
    assertEquals("/v2/models/a%20b/infer", line.get("path"));
    assertEquals(
        List.of(200, 12, 34, 56),
        List.of(
            line.get("status"),
            line.get("bytes_in"),
            line.get("bytes_out"),
            line.get("duration_us")));
    assertEquals("i\"d\n", line.get("request_id"));
    assertEquals("a b", line.get("model"));
    assertEquals("3", line.get("version"));
    assertFalse(JSON.std.mapFrom(lines.get(2)).containsKey("model"));
  }

  @Test
  void withoutAFileItGoesToTheLog() throws Exception {
    write(AccessLog.toLog(log), entry("/v2", "", 0));
    assertTrue(Files.readString(logFile).contains("io.nereid.access: 10.0.0.1:5"));
  }

  @Test
  void longPiecesAreCut() throws Exception {
    write(
        AccessLog.toFile(accessFile, log),
        entry("/" + "x".repeat(100_000), "m".repeat(100_000), 1));
    assertTrue(Files.size(accessFile) < 2000);
  }

  /** The file is a pipe that nobody reads from for a while. */
  @Test
  void aFileThatStallsStopsNobodyAndLosesLinesThatAreCounted() throws Exception {
    Process made = new ProcessBuilder("mkfifo", accessFile.toString()).start();
    Assumptions.assumeTrue(made.waitFor() == 0, "there is no mkfifo");
    CompletableFuture<InputStream> reader =
        CompletableFuture.supplyAsync(() -> open(accessFile)); // each end waits for the other
    AccessLog access = AccessLog.toFile(accessFile, log);
    int count = 0;
    while (access.droppedCount() < 1000) { // for ever, if one had to wait
      access.add(entry("/" + count++, "", 0));
    }
    assertTrue(count < 100_000, count + " entries wait"); // 16384 in the queue, others in the pipe
    CompletableFuture<Long> lines = CompletableFuture.supplyAsync(() -> countLines(reader.join()));
    access.close(TestServer.PATIENCE);
    assertEquals(count, lines.join() + access.droppedCount());
    String told = Files.readString(logFile);
    assertTrue(told.contains("requests have no line in the access log"), told);
  }

  private static InputStream open(Path file) {
    try {
      return new FileInputStream(file.toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long countLines(InputStream from) {
    return new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8)).lines().count();
  }

  @Test
  void aFullDiskIsTold() throws Exception {
    Path full = Path.of("/dev/full");
    Assumptions.assumeTrue(Files.exists(full), "there is no /dev/full");
    AccessLog access = AccessLog.toFile(full, log);
    write(access, entry("/v2", "", 0));
    assertEquals(1, access.droppedCount());
    String told = Files.readString(logFile);
    assertTrue(told.contains("1 requests have no line in the access log"), told);
  }

  @Test
  void aFileThatCannotBeOpenedIsNamed() {
    NereidException failure =
        Assertions.assertThrows(
            NereidException.class, () -> AccessLog.toFile(directory, log).close());
    assertTrue(failure.getMessage().contains(directory.toString()), failure.getMessage());
  }
}
