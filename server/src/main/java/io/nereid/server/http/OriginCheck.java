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
 * Keeps web pages from changing this server without their reader's knowledge. A browser sends any
 * page's requests to every server in reach, and names the page's origin in fields that pages cannot
 * set; other programs send no such fields. A request that changes nothing is answered: the browser
 * hides the answer from pages of other origins, unless reply fields of this class allow them.
 */
final class OriginCheck {

  /** The fields of the answer to a browser's preflight request for an allowed page. */
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

  /** Hosts that no name server can redirect. */
  private static final Pattern FIXED_HOST =
      Pattern.compile("(localhost|[0-9]+(\\.[0-9]+){3}|\\[[0-9a-f:.]+])(:[0-9]+)?");

  private final Set<String> allowed;

  /** Makes a check that allows these origins. */
  OriginCheck(Set<String> allowed) {
    this.allowed = allowed;
  }

  private boolean isAllowed(String origin) {
    return origin != null && (allowed.contains(origin) || allowed.contains(ANY));
  }

  /** True for a browser's preflight request for an allowed page. */
  boolean isPreflight(ProtocolHead head) {
    return !allowed.isEmpty()
        && head.method().equals("OPTIONS")
        && head.field("access-control-request-method") != null
        && isAllowed(head.field("origin"));
  }

  /** Adds the fields that let an allowed page read the reply. */
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

  /** Throws if a page of another origin asks for a change. */
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
   * True if a page came from this server. A host name proves nothing: its owner can point it at
   * this machine after the page was loaded.
   */
  private static boolean isOwn(String origin, String host) {
    int scheme = origin.indexOf("://");
    return host != null
        && scheme > 0
        && origin.substring(scheme + 3).equalsIgnoreCase(host)
        && FIXED_HOST.matcher(host.toLowerCase(Locale.ROOT)).matches();
  }

  /**
   * True if browsers send such a body, a form or a text, without asking first. curl's default type
   * does not count.
   */
  private static boolean isForm(String contentType) {
    if (contentType == null) {
      return false;
    }
    String type = contentType.toLowerCase(Locale.ROOT);
    return type.startsWith("text/plain") || type.startsWith("multipart/form-data");
  }
}
