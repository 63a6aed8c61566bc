package io.nereid.server.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log when a disk is full for a while. */
class LogOutputTest {

  /** Takes so many bytes and then no more, until there is room again. */
  private static final class Disk extends ByteArrayOutputStream {
    private int room;

    @Override
    public void write(byte[] bytes) throws IOException {
      int fits = Math.min(room, bytes.length);
      write(bytes, 0, fits);
      room -= fits;
      if (fits < bytes.length) {
        throw new IOException("No space left on device");
      }
    }
  }

  @Test
  void aFileThatWasMovedAwayIsFollowedByANewOne(@TempDir Path directory) throws Exception {
    Path log = directory.resolve("log");
    Path moved = directory.resolve("log.1");
    try (LogOutput output = LogOutput.file(log)) {
      output.write("one\n");
      Files.move(log, moved);
      long deadlineNs = System.nanoTime() + 60_000_000_000L;
      int lines = 0;
      while (!Files.exists(log)) {
        assertTrue(System.nanoTime() - deadlineNs < 0, "there is no new file");
        output.write("more\n");
        lines++;
        Thread.sleep(20);
      }
      output.write("last\n");
      assertEquals("more\nlast\n", Files.readString(log));
      assertEquals("one\n" + "more\n".repeat(lines - 1), Files.readString(moved));
      Files.delete(log);
      Files.createFile(log); // as logrotate's create does
      while (Files.size(log) == 0) {
        assertTrue(System.nanoTime() - deadlineNs < 0, "the new file stays empty");
        output.write("again\n");
        Thread.sleep(20);
      }
    }
  }

  @Test
  void theLineAfterAnUnfinishedOneBeginsALine() throws Exception {
    Disk disk = new Disk();
    LogOutput output = new LogOutput(disk, null);
    disk.room = 8;
    output.write("one\n");
    assertThrows(IOException.class, () -> output.write("two, which is longer\n"));
    assertThrows(IOException.class, () -> output.write("lost\n"));
    disk.room = 100;
    output.write("three\n");
    output.write("four\n");
    assertEquals("one\ntwo,\nthree\nfour\n", disk.toString(StandardCharsets.UTF_8));
  }
}
