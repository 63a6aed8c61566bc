package io.nereid.server.http.seam;

import io.nereid.server.json.JsonBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes the body of an error in the protocol's form. */
public final class ErrorBody {

  private ErrorBody() {}

  /** The JSON of a message. */
  public static byte[] json(String message) {
    JsonBuffer json = new JsonBuffer();
    json.ascii("{\"error\":").string(message).write('}');
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      json.writeTo(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
