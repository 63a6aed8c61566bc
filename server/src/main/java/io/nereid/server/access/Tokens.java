package io.nereid.server.access;

import io.nereid.server.shared.ReloadedFiles;
import io.nereid.server.shared.SmallFile;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The tokens of a file, which is read again when it changes. A line has one token, which may be
 * followed by the groups of endpoints that it grants; without them it grants all. {@code #} begins
 * a comment.
 */
public final class Tokens {

  /** The text in front of the token in the Authorization field, in any case. */
  private static final String SCHEME = "bearer ";

  private static final String FIELD = "Authorization";

  /** Characters of a token beside letters and digits, by RFC 6750. */
  private static final String TOKEN_CHARACTERS = "-._~+/=";

  private record Grant(Secret token, Set<EndpointGroup> groups) {}

  private final ReloadedFiles<List<Grant>> grants;

  private Tokens(ReloadedFiles<List<Grant>> grants) {
    this.grants = grants;
  }

  /** Reads the file; fails when it cannot be read, or has no token. */
  public static Tokens open(Path file) {
    try {
      return new Tokens(new ReloadedFiles<>("token file " + file, List.of(file), () -> read(file)));
    } catch (CharacterCodingException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, "expected UTF-8 in the token file " + file, e);
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, "the token file " + file + " cannot be read", e);
    }
  }

  private static List<Grant> read(Path file) throws IOException {
    List<String> lines = SmallFile.read(file, StandardCharsets.UTF_8).lines().toList();
    List<Grant> grants = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      int comment = lines.get(i).indexOf('#');
      String line = (comment < 0 ? lines.get(i) : lines.get(i).substring(0, comment)).strip();
      if (!line.isEmpty()) {
        grants.add(grant(line, file + " line " + (i + 1)));
      }
    }
    if (grants.isEmpty()) {
      throw invalid(file + ": expected at least one token, got none");
    }
    return grants;
  }

  /** Parses a line; no message repeats the token. */
  private static Grant grant(String line, String where) {
    String[] parts = line.split("\\s+");
    if (parts.length > 2 || !parts[0].chars().allMatch(Tokens::isTokenCharacter)) {
      throw invalid(
          where
              + ": expected TOKEN [GROUP,GROUP...], the token of letters, digits and "
              + TOKEN_CHARACTERS
              + ", got something else");
    }
    try {
      Set<EndpointGroup> groups =
          parts.length == 2 ? EndpointGroup.parse(parts[1]) : EnumSet.allOf(EndpointGroup.class);
      return new Grant(Secret.of(parts[0]), groups);
    } catch (IllegalArgumentException e) {
      throw invalid(where + ": " + e.getMessage());
    }
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private static boolean isTokenCharacter(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || TOKEN_CHARACTERS.indexOf(c) >= 0;
  }

  /**
   * Returns the refusal of a request; null if it may be made.
   *
   * @param group the requested group; null for an unknown path, for which any token will do
   * @param authorization the value of the field; null when there is none
   */
  Refusal check(EndpointGroup group, String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return new Refusal(
          Refusal.Kind.UNAUTHENTICATED, "expected a token as 'Authorization: Bearer TOKEN'", FIELD);
    }
    Secret token = Secret.of(authorization.substring(SCHEME.length()).strip());
    boolean known = false;
    boolean granted = false;
    for (Grant grant : grants.current()) { // compares with all, so that the time reveals nothing
      boolean same = grant.token.matches(token);
      known |= same;
      granted |= same & (group == null || grant.groups.contains(group));
    }
    if (!known) {
      return new Refusal(
          Refusal.Kind.UNAUTHENTICATED,
          "expected a token that this server knows as 'Authorization: Bearer TOKEN'",
          FIELD);
    }
    return granted
        ? null
        : new Refusal(
            Refusal.Kind.NOT_GRANTED,
            "expected a token that grants '" + group + "', got another",
            FIELD);
  }
}
