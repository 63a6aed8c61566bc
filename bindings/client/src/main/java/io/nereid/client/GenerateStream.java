package io.nereid.client;

import io.nereid.types.StatusCode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;

/**
 * The responses of a model as text and numbers, read one after the other as they come. One thread
 * reads them; only {@link #close} may come from another.
 */
public final class GenerateStream implements AutoCloseable {

  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};

  private final InputStream events;
  private final int mostBytes;

  /** The status of the reply; 0 once the first response is read, as no other has a status. */
  private int status;

  GenerateStream(int status, InputStream events, int mostBytes) {
    this.status = status;
    this.events = new BufferedInputStream(events);
    this.mostBytes = mostBytes;
  }

  /**
   * Waits for the next response and returns its outputs by name, beside {@code model_name} and
   * {@code model_version}; null when there are no more. Waits for it.
   *
   * @throws InferenceException when the response is an error, after which the stream goes on with
   *     the next call. Only the first error has a kind, from the status of the reply; others are
   *     {@link StatusCode#UNKNOWN}. Also when the stream as a whole failed
   */
  public Map<String, Object> next() {
    try {
      for (byte[] line = readLine(); line != null; line = readLine()) {
        if (startsWithData(line)) {
          return members(JsonReading.tree(line, DATA.length, line.length - DATA.length));
        }
      }
      return end();
    } catch (IOException e) {
      throw new InferenceException(
          StatusCode.UNAVAILABLE, "the stream ended before its end: " + e.getMessage(), e);
    }
  }

  /** Returns null; throws if the reply's status is an error that no event has reported. */
  private Map<String, Object> end() {
    int untold = status;
    status = 0;
    if (untold / 100 > 2) {
      throw HttpFailures.ofEvent(untold, HttpFailures.of(untold, new byte[0], 0));
    }
    return null;
  }

  private Map<String, Object> members(Object tree) {
    Map<String, Object> members = JsonReading.members(tree);
    int first = status;
    status = 0;
    if (members.get("error") instanceof String message) {
      throw HttpFailures.ofEvent(first, message);
    }
    return members;
  }

  private static boolean startsWithData(byte[] line) {
    for (int i = 0; i < DATA.length; i++) {
      if (i >= line.length || line[i] != DATA[i]) {
        return false;
      }
    }
    return true;
  }

  /** A line without its end; null at the end of the stream. */
  private byte[] readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next = events.read();
    if (next < 0) {
      return null;
    }
    while (next >= 0 && next != '\n') {
      if (line.size() == mostBytes) {
        throw new InferenceException(
            StatusCode.RESOURCE_EXHAUSTED,
            "a response has more bytes, and maxResponseBytes is " + mostBytes);
      }
      line.write(next);
      next = events.read();
    }
    return line.toByteArray();
  }

  /** Ends the stream, and cancels the server's computation for it. */
  @Override
  public void close() {
    try {
      events.close();
    } catch (IOException e) {
      // the stream has ended either way
    }
  }
}
