package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Amazon's protocol, which most stores speak and Google's as well: addresses with the bucket in the
 * path, and signatures of version 4.
 */
final class S3Dialect implements Dialect {

  private static final String ALGORITHM = "AWS4-HMAC-SHA256";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  /** The digest of an empty body. */
  private static final String EMPTY = Hashes.hex(Hashes.newSha256().digest());

  private final StoreUrl url;
  private final URI endpoint;
  private final AwsCredentials.Chain credentials;
  private volatile String region;

  /** A bucket at a server, with a region that the store may correct. */
  S3Dialect(StoreUrl url, URI endpoint, String region, AwsCredentials.Chain credentials) {
    this.url = url;
    this.endpoint = endpoint;
    this.region = region;
    this.credentials = credentials;
  }

  @Override
  public URI list(String token) {
    String query = "?list-type=2&prefix=" + Dialect.encode(url.prefix());
    String next = token.isEmpty() ? "" : "&continuation-token=" + Dialect.encode(token);
    return URI.create(base() + "/" + query + next);
  }

  @Override
  public URI object(String key) {
    return URI.create(base() + "/" + Dialect.path(key));
  }

  private String base() {
    return endpoint + "/" + Dialect.path(url.bucket());
  }

  @Override
  public boolean refused(Map<String, String> answer) {
    String other = answer.get("x-amz-bucket-region");
    boolean moved = other != null && !other.equals(region);
    if (moved) {
      region = other;
    }
    return moved | credentials.renew();
  }

  @Override
  public Map<String, String> sign(String method, URI uri, Map<String, String> headers, Instant now)
      throws IOException {
    Map<String, String> all = new TreeMap<>(headers);
    AwsCredentials who = credentials.get(now);
    if (who.isAnonymous()) {
      return all;
    }
    String time = TIME.format(now);
    all.put("x-amz-content-sha256", EMPTY);
    all.put("x-amz-date", time);
    if (!who.token().isEmpty()) {
      all.put("x-amz-security-token", who.token());
    }
    Map<String, String> signed = new TreeMap<>(all);
    signed.put("host", Dialect.host(uri));
    String names = String.join(";", signed.keySet());
    String lines =
        signed.entrySet().stream()
            .map(header -> header.getKey() + ":" + header.getValue() + "\n")
            .collect(Collectors.joining());
    String request = String.join("\n", method, uri.getRawPath(), query(uri), lines, names, EMPTY);
    String scope = time.substring(0, 8) + "/" + region + "/s3/aws4_request";
    String digest = Hashes.hex(Hashes.newSha256().digest(bytes(request)));
    String text = String.join("\n", ALGORITHM, time, scope, digest);
    byte[] key = bytes("AWS4" + who.secret());
    for (String part : scope.split("/")) {
      key = hmac(key, part);
    }
    all.put(
        "authorization",
        ALGORITHM
            + (" Credential=" + who.id() + "/" + scope)
            + (", SignedHeaders=" + names)
            + (", Signature=" + HexFormat.of().formatHex(hmac(key, text))));
    return all;
  }

  /** The query with its parameters in order. */
  private static String query(URI uri) {
    String query = uri.getRawQuery();
    return query == null
        ? ""
        : java.util.Arrays.stream(query.split("&")).sorted().collect(Collectors.joining("&"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] hmac(byte[] key, String text) {
    return hmac(key, bytes(text));
  }

  /** The HMAC with SHA-256. */
  static byte[] hmac(byte[] key, byte[] text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("each JDK has it", e);
    }
  }
}
