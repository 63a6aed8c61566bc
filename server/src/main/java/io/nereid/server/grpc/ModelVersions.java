package io.nereid.server.grpc;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.types.NereidException;

/**
 * Reads versions of models as requests name them: a number, or nothing or {@code latest} for the
 * highest that is ready.
 */
final class ModelVersions {

  private ModelVersions() {}

  /** The version; 0 for the highest that is ready. */
  static long parse(String text) {
    if (text.isEmpty() || text.equals("latest")) {
      return 0;
    }
    long version = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9 || version > (Long.MAX_VALUE - digit) / 10) {
        throw invalid(text);
      }
      version = version * 10 + digit;
    }
    if (version == 0) {
      throw invalid(text);
    }
    return version;
  }

  /** The version; 0 if none was named, or an impossible one. */
  static long named(String text) {
    try {
      return parse(text);
    } catch (NereidException e) {
      return 0;
    }
  }

  private static RuntimeException invalid(String text) {
    return GrpcStatus.invalidArgument(
        "failed to get model version from specified version string '"
            + text
            + "', version should be an integral value > 0, or 'latest'");
  }

  /** The model that a request means, which must be ready. */
  static Model model(Nereid nereid, String name, String version) {
    long number = parse(version);
    return number == 0 ? nereid.model(name) : nereid.model(name, number);
  }
}
