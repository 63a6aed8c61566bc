package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Azure's protocol for blobs. Requests are signed with the account's key, carry a token in their
 * address, or that of the machine's identity.
 */
final class AzureDialect implements Dialect {

  private static final String VERSION = "2021-08-06";
  private static final String STORAGE = "https://storage.azure.com/";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private final StoreUrl url;
  private final String base;
  private final String key;
  private final String sas;
  private final TokenSource identity;

  /**
   * A container.
   *
   * @param endpoint the address of the account
   * @param key of the account, in Base64; empty: there is none
   * @param sas a shared access signature, to be part of addresses; empty: there is none
   * @param identity gives tokens where there is neither; null: nobody in particular asks
   */
  AzureDialect(StoreUrl url, String endpoint, String key, String sas, TokenSource identity) {
    this.url = url;
    this.base = endpoint + "/" + Dialect.path(url.bucket());
    this.key = key;
    this.sas = sas.replaceFirst("^\\?", "");
    this.identity = identity;
  }

  @Override
  public URI list(String token) {
    String next = token.isEmpty() ? "" : "&marker=" + Dialect.encode(token);
    return uri(
        base + "?restype=container&comp=list&prefix=" + Dialect.encode(url.prefix()) + next, "&");
  }

  @Override
  public URI object(String name) {
    return uri(base + "/" + Dialect.path(name), "?");
  }

  private URI uri(String address, String separator) {
    return URI.create(sas.isEmpty() || !key.isEmpty() ? address : address + separator + sas);
  }

  @Override
  public boolean refused(Map<String, String> answer) {
    return identity != null && identity.renew();
  }

  @Override
  public Map<String, String> sign(String method, URI uri, Map<String, String> headers, Instant now)
      throws IOException {
    Map<String, String> all = new TreeMap<>(headers);
    all.put("x-ms-version", VERSION);
    all.put("x-ms-date", TIME.format(now));
    if (!key.isEmpty()) {
      byte[] secret = Base64.getDecoder().decode(key);
      byte[] text = textToSign(method, uri, all).getBytes(StandardCharsets.UTF_8);
      String signature = Base64.getEncoder().encodeToString(S3Dialect.hmac(secret, text));
      all.put("authorization", "SharedKey " + url.account() + ":" + signature);
    } else if (sas.isEmpty() && identity != null) {
      all.put("authorization", "Bearer " + identity.get(now));
    }
    return all;
  }

  private String textToSign(String method, URI uri, Map<String, String> headers) {
    StringBuilder text = new StringBuilder(method).append("\n\n\n\n\n\n\n\n");
    text.append(headers.getOrDefault("if-match", "")).append("\n\n\n");
    text.append(headers.getOrDefault("range", "")).append('\n');
    headers.forEach((name, value) -> {
      if (name.startsWith("x-ms-")) {
        text.append(name).append(':').append(value).append('\n');
      }
    });
    text.append('/').append(url.account()).append(uri.getRawPath());
    Map<String, String> parameters = new TreeMap<>();
    for (String part : uri.getRawQuery() == null ? new String[0] : uri.getRawQuery().split("&")) {
      String[] both = part.split("=", 2);
      parameters.put(both[0], URLDecoder.decode(both[1], StandardCharsets.UTF_8));
    }
    parameters.forEach((name, value) -> text.append('\n').append(name).append(':').append(value));
    return text.toString();
  }

  /** Tokens of the identity that a machine or a pod of Azure's has; null: it is none of these. */
  static TokenSource identity(Map<String, String> environment, SmallHttp http) {
    String client = environment.getOrDefault("AZURE_CLIENT_ID", "");
    String file = environment.getOrDefault("AZURE_FEDERATED_TOKEN_FILE", "");
    if (!file.isEmpty()) {
      String host =
          environment.getOrDefault("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com/");
      URI where = URI.create(host + environment.get("AZURE_TENANT_ID") + "/oauth2/v2.0/token");
      return new TokenSource(() ->
          http.send(
              "POST",
              where,
              Map.of("content-type", "application/x-www-form-urlencoded"),
              "grant_type=client_credentials&client_id="
                  + client
                  + "&scope="
                  + Dialect.encode(STORAGE + ".default")
                  + "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A"
                  + "client-assertion-type%3Ajwt-bearer&client_assertion="
                  + java.nio.file.Files.readString(java.nio.file.Path.of(file)).strip()));
    }
    if (client.isEmpty()) {
      return null;
    }
    String host =
        environment.getOrDefault("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://169.254.169.254");
    URI metadata =
        URI.create(
            host
                + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource="
                + Dialect.encode(STORAGE)
                + "&client_id="
                + Dialect.encode(client));
    return new TokenSource(() -> http.get(metadata, Map.of("metadata", "true")));
  }
}
