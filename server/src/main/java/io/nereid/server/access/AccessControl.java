package io.nereid.server.access;

import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Decides which requests of one frontend may be made, on the threads that serve them. Tokens, if
 * configured, are needed for everything but health, which probes ask for; restrictions of groups
 * apply in addition.
 */
public final class AccessControl {

  /** Everybody may do everything. */
  public static final AccessControl OPEN = of(Restrictions.NONE, Optional.empty());

  private static final String AUTHORIZATION = "authorization";

  private final Restrictions restrictions;
  private final Tokens tokens; // null: no tokens are needed

  private AccessControl(Restrictions restrictions, Tokens tokens) {
    this.restrictions = restrictions;
    this.tokens = tokens;
  }

  /** Combines the restrictions of a frontend with tokens, which all frontends may share. */
  public static AccessControl of(Restrictions restrictions, Optional<Tokens> tokens) {
    return new AccessControl(Objects.requireNonNull(restrictions), tokens.orElse(null));
  }

  /** True if no request is ever refused, so that none need be checked. */
  public boolean isOpen() {
    return tokens == null && restrictions.isEmpty();
  }

  /** The names of the header fields that {@link #check} asks for, in lower case. */
  public Set<String> fieldNames() {
    Set<String> names = new HashSet<>(restrictions.fieldNames());
    if (tokens != null) {
      names.add(AUTHORIZATION);
    }
    return names;
  }

  /**
   * The refusal of a request; empty if it may be made.
   *
   * @param group the requested group; null: no endpoint has the path
   */
  public Optional<Refusal> check(EndpointGroup group, UnaryOperator<String> fields) {
    Refusal refusal = null;
    if (tokens != null && group != EndpointGroup.HEALTH) {
      refusal = tokens.check(group, fields.apply(AUTHORIZATION));
    }
    if (refusal == null && group != null) {
      refusal = restrictions.check(group, fields);
    }
    return Optional.ofNullable(refusal);
  }
}
