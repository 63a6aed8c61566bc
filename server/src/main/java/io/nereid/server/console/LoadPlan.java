package io.nereid.server.console;

import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;

/**
 * The plan of a load test, as a page asks for it. It is filled in member by member.
 *
 * @see #read
 */
final class LoadPlan {

  static final int MOST_CONCURRENCY = 64;
  static final int MOST_RATE = 10_000;
  static final int MOST_SECONDS = 120;
  static final int MOST_BATCH = 1024;

  String model = "";
  String version = "";
  String protocol = "http";
  int concurrency;
  int ratePerSecond;
  boolean poisson;
  int seconds = 10;
  int batchSize = 1;

  /** Takes a member of the object that describes it. */
  void read(String name, JsonReader parser) {
    switch (name) {
      case "model" -> model = parser.string(name);
      case "version" -> version = parser.string(name);
      case "protocol" -> {
        protocol = parser.string(name);
        if (!protocol.equals("http") && !protocol.equals("grpc")) {
          throw new JsonException(
              "expected 'http' or 'grpc' as 'protocol', got '" + protocol + "'");
        }
      }
      case "concurrency" -> concurrency = number(name, parser, MOST_CONCURRENCY);
      case "rate_per_s" -> ratePerSecond = number(name, parser, MOST_RATE);
      case "poisson" -> poisson = parser.bool(name);
      case "duration_s" -> seconds = number(name, parser, MOST_SECONDS);
      case "batch_size" -> batchSize = number(name, parser, MOST_BATCH);
      default -> throw new JsonException("unknown member '" + name + "' of a load test");
    }
  }

  private static int number(String name, JsonReader parser, int most) {
    long value = parser.unsigned(name);
    if (value < 1 || value > most) {
      throw new JsonException("expected '" + name + "' from 1 to " + most + ", got " + value);
    }
    return (int) value;
  }

  /** Its version as a number; 0: the one that answers. */
  long versionNumber() {
    return version.isEmpty() ? 0 : Long.parseLong(version);
  }

  /** Fails when it does not say what to do. */
  void check() {
    if (model.isEmpty()) {
      throw new JsonException("expected the name of a model as 'model', got none");
    }
    if (!version.isEmpty() && !version.matches("[1-9][0-9]{0,17}")) {
      throw new JsonException("expected a positive number in 'version', got '" + version + "'");
    }
    if ((concurrency > 0) == (ratePerSecond > 0)) {
      throw new JsonException("expected either 'concurrency' or 'rate_per_s'");
    }
  }
}
