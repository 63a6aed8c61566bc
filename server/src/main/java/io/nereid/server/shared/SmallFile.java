package io.nereid.server.shared;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads small files that settings name, such as tokens and certificates, as text. */
public final class SmallFile {

  /** The largest file: more than any needs, and little of the heap. */
  static final int MAX_BYTES = 16 << 20;

  private SmallFile() {}

  /**
   * Reads a whole file. Only regular files are read: opening a named pipe would wait for a writer,
   * and a device may be endless.
   *
   * @throws CharacterCodingException the content is not in {@code charset}
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
