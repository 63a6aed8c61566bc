package io.nereid.server.log;

import java.time.Instant;

/**
 * A request that was answered, or whose client went away.
 *
 * @param time when it began
 * @param client the client's address
 * @param protocol such as HTTP/1.1
 * @param method such as GET
 * @param path what was asked for
 * @param status what it was answered with, by the protocol's numbers
 * @param inputBytes bytes of its body, as they came
 * @param outputBytes bytes of the reply's body, as they were sent
 * @param durationUs from its first byte to the last of the reply, in microseconds
 * @param requestId what the client, or the server, calls it
 * @param model the model that it was for; empty: none
 * @param version the model's version; 0: none was named or chosen
 */
public record AccessEntry(
    Instant time,
    String client,
    String protocol,
    String method,
    String path,
    int status,
    long inputBytes,
    long outputBytes,
    long durationUs,
    String requestId,
    String model,
    long version) {

  /** Longest text of a client's that is kept: many entries may wait to be written. */
  private static final int MAX_LENGTH = 512;

  private static final String LOGGER = "io.nereid.access";

  /** Shortens what is too long. */
  public AccessEntry {
    method = shortened(method);
    path = shortened(path);
    requestId = shortened(requestId);
    model = shortened(model);
  }

  private static String shortened(String text) {
    return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
  }

  /** Adds it as a line. */
  void append(StringBuilder lines, LogFormat format) {
    if (format == LogFormat.JSON) {
      appendJson(lines);
    } else {
      appendPlain(lines);
    }
    lines.append('\n');
  }

  private void appendJson(StringBuilder line) {
    LogLine.json(line, time, "INFO", LOGGER);
    member(line, "client", client);
    member(line, "protocol", protocol);
    member(line, "method", method);
    member(line, "path", path);
    line.append(",\"status\":").append(status);
    line.append(",\"bytes_in\":").append(inputBytes);
    line.append(",\"bytes_out\":").append(outputBytes);
    line.append(",\"duration_us\":").append(durationUs);
    member(line, "request_id", requestId);
    if (!model.isEmpty()) {
      member(line, "model", model);
      if (version > 0) {
        line.append(",\"version\":\"").append(version).append('"');
      }
    }
    line.append('}');
  }

  private static void member(StringBuilder line, String name, String value) {
    line.append(",\"").append(name).append("\":");
    LogText.appendQuoted(line, value);
  }

  private void appendPlain(StringBuilder line) {
    LogLine.plain(line, time, "INFO");
    line.append(LOGGER).append(": ").append(client).append(' ');
    LogText.appendQuoted(line, method + " " + path + " " + protocol);
    line.append(' ').append(status);
    line.append(" in=").append(inputBytes);
    line.append(" out=").append(outputBytes);
    line.append(" us=").append(durationUs);
    line.append(" id=");
    LogText.appendQuoted(line, requestId);
    if (!model.isEmpty()) {
      line.append(" model=");
      LogText.appendQuoted(line, model);
      if (version > 0) {
        line.append(" version=").append(version);
      }
    }
  }
}
