package io.nereid.server.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What is left when a disk is full for a while. */
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
  void theLineAfterAnUnfinishedOneBeginsALine() throws Exception {
    Disk disk = new Disk();
    LogOutput output = new LogOutput(disk, true);
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
