package io.nereid.server.shared;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that settings name, such as tokens and certificates, as texts. */
public final class SmallFile {

  /** More than any of them needs, and little beside the heap. */
  static final int MAX_BYTES = 16 << 20;

  private SmallFile() {}

  /**
   * Reads a whole file. Only a regular one: to open a named pipe waits for whoever writes there,
   * and a device may have no end.
   *
   * @throws CharacterCodingException when it is not in {@code charset}
   */
  public static String read(Path file, Charset charset) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + ": expected a regular file, got something else");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException(file + ": expected at most " + MAX_BYTES + " bytes, got more");
      }
      return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }
  }
}
