package io.nereid.server.access;

import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The groups of endpoints that need a header field with a certain value. They are parsed from texts
 * of the form {@code GROUP[,GROUP...]:FIELD=VALUE}.
 */
public final class Restrictions {

  /** No restrictions. */
  public static final Restrictions NONE = new Restrictions("API", Map.of());

  /** The prefix of the field's name in the metadata of a gRPC call. */
  private static final String GRPC_PREFIX = "triton-grpc-protocol-";

  /**
   * The header field that a group needs.
   *
   * @param field the name of the header field, as messages show it
   * @param value the value that it must have
   */
  private record Rule(String field, Secret value) {}

  private final String noun;
  private final Map<EndpointGroup, Rule> rules;

  private Restrictions(String noun, Map<EndpointGroup, Rule> rules) {
    this.noun = noun;
    this.rules = rules;
  }

  /** Parses the values of {@code --http-restricted-api}. */
  public static Restrictions forHttp(List<String> texts) {
    return parse("API", "", texts);
  }

  /** Parses the values of {@code --grpc-restricted-protocol}. */
  public static Restrictions forGrpc(List<String> texts) {
    return parse("protocol", GRPC_PREFIX, texts);
  }

  private static Restrictions parse(String noun, String prefix, List<String> texts) {
    Map<EndpointGroup, Rule> rules = new EnumMap<>(EndpointGroup.class);
    for (String text : texts) {
      int colon = text.indexOf(':');
      int equals = text.indexOf('=', colon + 1);
      // The text behind the colon is never repeated in a message: it may be the secret.
      if (colon <= 0 || equals <= colon + 1 || equals == text.length() - 1) {
        throw new IllegalArgumentException(
            "expected restrictions of the form GROUP[,GROUP...]:FIELD=VALUE, got "
                + (colon > 0 ? "'" + text.substring(0, colon) + ":' with something else" : "none"));
      }
      String field = text.substring(colon + 1, equals);
      if (!field.chars().allMatch(Restrictions::isFieldCharacter)) {
        throw new IllegalArgumentException(
            "expected the name of a header field behind '"
                + text.substring(0, colon + 1)
                + "', got one with other characters than letters, digits, - and _");
      }
      Rule rule = new Rule(prefix + field, Secret.of(text.substring(equals + 1)));
      for (EndpointGroup group : EndpointGroup.parse(text.substring(0, colon))) {
        if (rules.put(group, rule) != null) {
          throw new IllegalArgumentException(
              "expected every group of endpoints to be restricted once, got '"
                  + group
                  + "' several times");
        }
      }
    }
    return new Restrictions(noun, rules);
  }

  private static boolean isFieldCharacter(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_';
  }

  boolean isEmpty() {
    return rules.isEmpty();
  }

  /** The names of the fields that decide, in lower case. */
  Set<String> fieldNames() {
    return rules.values().stream()
        .map(rule -> rule.field.toLowerCase(Locale.ROOT))
        .collect(Collectors.toSet());
  }

  /** The refusal of the group; null if it may be used. */
  Refusal check(EndpointGroup group, UnaryOperator<String> fields) {
    Rule rule = rules.get(group);
    if (rule == null) {
      return null;
    }
    String value = fields.apply(rule.field.toLowerCase(Locale.ROOT));
    return value != null && rule.value.matches(Secret.of(value))
        ? null
        : new Refusal(
            Refusal.Kind.RESTRICTED,
            "This " + noun + " is restricted, expecting header '" + rule.field + "'",
            rule.field);
  }
}
