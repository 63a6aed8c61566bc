package io.nereid.perf;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The address of the server and the model, with protocol and encryption.
 *
 * @param protocol HTTP or gRPC
 * @param host its name or address
 * @param port its port
 * @param path in front of the protocol's own paths over HTTP; empty, or with a leading slash
 * @param tls empty: connections are not encrypted
 * @param headers sent with every request, by lower-case names
 * @param model the model's name
 * @param version the model's version; empty: the server chooses
 */
record Target(
    Protocol protocol,
    String host,
    int port,
    String path,
    Optional<TlsFiles> tls,
    Map<String, String> headers,
    String model,
    String version) {

  /**
   * Makes a target from an address: {@code HOST}, {@code HOST:PORT}, or with a scheme, which
   * decides protocol and TLS.
   *
   * @param protocol the command line's protocol; null: not given
   * @param encrypted whether the command line asks for TLS
   */
  static Target of(
      String address,
      Protocol protocol,
      boolean encrypted,
      TlsFiles files,
      Map<String, String> headers,
      String model,
      String version) {
    String text = address == null ? "localhost" : address;
    boolean hasScheme = text.contains("://");
    URI uri = uri(hasScheme ? text : "none://" + text, text);
    String scheme = hasScheme ? uri.getScheme().toLowerCase(Locale.ROOT) : "";
    Protocol chosen =
        switch (scheme) {
          case "http", "https" -> Protocol.HTTP;
          case "grpc", "grpcs" -> Protocol.GRPC;
          case "" -> protocol == null ? Protocol.HTTP : protocol;
          default -> throw wrong(text);
        };
    if (protocol != null && protocol != chosen) {
      throw new IllegalArgumentException(
          "expected an address that fits --protocol " + protocol + ", got '" + text + "'");
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceAll("/+$", "");
    if (chosen == Protocol.GRPC && !path.isEmpty()) {
      throw wrong(text);
    }
    boolean tls = encrypted || scheme.equals("https") || scheme.equals("grpcs");
    int port = uri.getPort() < 0 ? chosen.usualPort() : uri.getPort();
    return new Target(
        chosen,
        uri.getHost(),
        port,
        path,
        tls ? Optional.of(files) : Optional.empty(),
        headers,
        model,
        version);
  }

  /** Returns the target of another model of the same server, which chooses the version. */
  Target withModel(String other) {
    return new Target(protocol, host, port, path, tls, headers, other, "");
  }

  private static URI uri(String text, String shown) {
    URI uri;
    try {
      uri = URI.create(text);
    } catch (IllegalArgumentException e) {
      throw wrong(shown);
    }
    if (uri.getHost() == null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw wrong(shown);
    }
    return uri;
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException(
        "expected an address such as localhost:8000, https://host/path or grpc://host:8001, got '"
            + text
            + "'");
  }

  /** Host and port, as in a URL. */
  String authority() {
    return host + ":" + port;
  }

  /** The model's path over HTTP, with the version if one was given. */
  String modelPath() {
    String name = encoded(model);
    return path + "/v2/models/" + name + (version.isEmpty() ? "" : "/versions/" + encoded(version));
  }

  /** Encodes a segment of a path. */
  private static String encoded(String segment) {
    return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public String toString() {
    String scheme = protocol.name().toLowerCase(Locale.ROOT) + (tls.isPresent() ? "s" : "");
    return scheme + "://" + authority() + path;
  }

  /** The protocols by which requests travel, each with its usual port. */
  enum Protocol {
    HTTP(8000),
    GRPC(8001);

    private final int usualPort;

    Protocol(int usualPort) {
      this.usualPort = usualPort;
    }

    int usualPort() {
      return usualPort;
    }
  }
}
