package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Keeps web pages from changing this server behind the back of the person who looks at them. A
 * browser sends the requests of any page to every server that it reaches; it names the page's
 * origin in fields that pages cannot set. Requests of other programs have none of these fields. A
 * request that changes nothing is answered: the browser keeps the answer from a page of another
 * origin, unless the fields here let it through.
 */
final class OriginCheck {

  /** The answer to a browser that asks first what a page may do that is let in. */
  static final List<Header> PREFLIGHT_FIELDS =
      List.of(
          HeaderValues.createCached("Access-Control-Allow-Methods", "GET, HEAD, POST"),
          HeaderValues.createCached("Access-Control-Allow-Headers", "*, Authorization"),
          HeaderValues.createCached("Access-Control-Max-Age", "600"));

  private static final HeaderName ALLOW_ORIGIN = HeaderNames.create("Access-Control-Allow-Origin");
  private static final Header EXPOSE =
      HeaderValues.createCached("Access-Control-Expose-Headers", "*");
  private static final Header VARY = HeaderValues.createCached("Vary", "Origin");

  private static final String ANY = "*";

  /** Hosts that no name server can turn into others. */
  private static final Pattern FIXED_HOST =
      Pattern.compile("(localhost|[0-9]+(\\.[0-9]+){3}|\\[[0-9a-f:.]+])(:[0-9]+)?");

  private final Set<String> allowed;

  /** With the origins that are let in. */
  OriginCheck(Set<String> allowed) {
    this.allowed = allowed;
  }

  private boolean isAllowed(String origin) {
    return origin != null && (allowed.contains(origin) || allowed.contains(ANY));
  }

  /** True if a browser asks what a page that is let in may do. */
  boolean isPreflight(ProtocolHead head) {
    return !allowed.isEmpty()
        && head.method().equals("OPTIONS")
        && head.field("access-control-request-method") != null
        && isAllowed(head.field("origin"));
  }

  /** Adds the fields of a reply that a page may read. */
  void addFields(ProtocolHead head, HttpExchange exchange) {
    if (allowed.isEmpty()) {
      return;
    }
    String origin = head.field("origin");
    if (isAllowed(origin)) {
      exchange.field(ALLOW_ORIGIN, allowed.contains(ANY) ? ANY : origin);
      exchange.field(EXPOSE);
    }
    exchange.field(VARY);
  }

  /** Fails when a page of somewhere else asks to change something. */
  void admit(ProtocolHead head) {
    if (!head.route().endpoint().isChange() || !head.method().equals("POST")) {
      return;
    }
    String origin = head.field("origin");
    if (isAllowed(origin)) {
      return;
    }
    String site = head.field("sec-fetch-site");
    if (site != null && !site.equals("same-origin") && !site.equals("none")) {
      throw refused("a web page of another site", origin);
    }
    if (site == null && origin != null && !isOwn(origin, head.field("host"))) {
      throw refused("a web page of another origin", origin);
    }
    if (origin == null && isForm(head.field("content-type"))) {
      throw new HttpFailure(
          Status.FORBIDDEN,
          "expected Content-Type: application/json, got that of a form, which pages of any site can"
              + " send");
    }
  }

  private static HttpFailure refused(String who, String origin) {
    String shown = origin == null ? "ORIGIN" : origin;
    return new HttpFailure(
        Status.FORBIDDEN,
        ("this was asked for by %s, which may change nothing here; --http-allowed-origin %s "
                + "lets it")
            .formatted(who, shown));
  }

  /**
   * True if a page came from here. One that is called by a name may have come from anywhere: its
   * owner can let the name mean this machine afterwards.
   */
  private static boolean isOwn(String origin, String host) {
    int scheme = origin.indexOf("://");
    return host != null
        && scheme > 0
        && origin.substring(scheme + 3).equalsIgnoreCase(host)
        && FIXED_HOST.matcher(host.toLowerCase(Locale.ROOT)).matches();
  }

  /**
   * True if browsers send such a body, a form or a text, without asking first. curl's default is
   * let in.
   */
  private static boolean isForm(String contentType) {
    if (contentType == null) {
      return false;
    }
    String type = contentType.toLowerCase(Locale.ROOT);
    return type.startsWith("text/plain") || type.startsWith("multipart/form-data");
  }
}
