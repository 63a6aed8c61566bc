package io.nereid.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/** The content codings of requests and replies. */
enum Compression {
  NONE("identity"),
  GZIP("gzip"),
  /** RFC 1950, with the header that raw deflate has not. */
  DEFLATE("deflate");

  private final String coding;

  Compression(String coding) {
    this.coding = coding;
  }

  /** The header field of a reply; empty for none. */
  String field() {
    return this == NONE ? "" : "Content-Encoding: " + coding + "\r\n";
  }

  /** What a request's Content-Encoding says. */
  static Compression ofRequest(String value) {
    if (value.isEmpty()) {
      return NONE;
    }
    for (Compression one : values()) {
      if (one.coding.equalsIgnoreCase(value)) {
        return one;
      }
    }
    throw HttpFailure.withField(
        Status.NOT_IMPLEMENTED,
        "Unsupported compression type: expected gzip or deflate as Content-Encoding, got '"
            + value
            + "'",
        "Accept-Encoding",
        "gzip, deflate");
  }

  /** What a request's Accept-Encoding prefers; the first of those that it likes as much. */
  static Compression preferred(String value) {
    if (value.isEmpty()) {
      return NONE;
    }
    Compression best = NONE;
    double bestQuality = 0;
    for (String element : value.split(",")) {
      String[] parts = element.split(";", -1);
      String name = parts[0].strip().toLowerCase(Locale.ROOT);
      double quality = parts.length > 1 ? quality(parts[1].strip()) : 1;
      for (Compression one : values()) {
        if (one.coding.equals(name) && quality > bestQuality) {
          best = one;
          bestQuality = quality;
        }
      }
    }
    return best;
  }

  private static double quality(String parameter) {
    if (!parameter.startsWith("q=")) {
      return 1;
    }
    try {
      return Double.parseDouble(parameter.substring(2));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** What is written there goes compressed to {@code to}; not for {@link #NONE}. */
  OutputStream compress(OutputStream to) throws IOException {
    return this == GZIP ? new GZIPOutputStream(to) : new DeflaterOutputStream(to);
  }
}
