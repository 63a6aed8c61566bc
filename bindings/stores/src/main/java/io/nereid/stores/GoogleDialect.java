package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;

/**
 * Google's store: its XML interface has the addresses and lists of Amazon's, and takes a token in
 * place of a signature.
 */
final class GoogleDialect implements Dialect {

  private static final String SCOPE = "https://www.googleapis.com/auth/devstorage.read_only";

  private static final String USUAL = "169.254.169.254";
  private static final String ACCOUNT =
      "/computeMetadata/v1/instance/service-accounts/default/token";

  private final S3Dialect addresses;
  private final TokenSource tokens;

  /** A bucket; tokens null: nobody in particular asks. */
  GoogleDialect(S3Dialect addresses, TokenSource tokens) {
    this.addresses = addresses;
    this.tokens = tokens;
  }

  @Override
  public URI list(String token) {
    return addresses.list(token);
  }

  @Override
  public URI object(String key) {
    return addresses.object(key);
  }

  @Override
  public boolean refused(Map<String, String> answer) {
    return tokens != null && tokens.renew();
  }

  @Override
  public Map<String, String> sign(String method, URI uri, Map<String, String> headers, Instant now)
      throws IOException {
    Map<String, String> all = new TreeMap<>(headers);
    String token = tokens == null ? null : tokens.get(now);
    if (token != null) {
      all.put("authorization", "Bearer " + token);
    }
    return all;
  }

  /** Tokens for the account in a file; without one the machine's, if its service is there. */
  static TokenSource tokens(String file, String metadata, SmallHttp http) throws IOException {
    if (file.isEmpty()) {
      URI where = URI.create("http://" + (metadata.isEmpty() ? USUAL : metadata) + ACCOUNT);
      // The bucket may be public where this is no machine of Google's.
      return new TokenSource(() -> http.get(where, Map.of("metadata-flavor", "Google")), true);
    }
    Map<String, String> account = SmallJson.strings(Files.readString(Path.of(file)));
    if (account.containsKey("refresh_token")) {
      String form =
          "grant_type=refresh_token&client_id="
              + Dialect.encode(account.getOrDefault("client_id", ""))
              + "&client_secret="
              + Dialect.encode(account.getOrDefault("client_secret", ""))
              + "&refresh_token="
              + Dialect.encode(account.get("refresh_token"));
      return new TokenSource(() -> post(http, address(account), form));
    }
    if (!account.containsKey("private_key")) {
      throw new IOException(file + ": expected the JSON file of a service account, or of a user");
    }
    return new TokenSource(() -> {
      String form =
          "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
              + assertion(account, Path.of(file));
      return post(http, address(account), form);
    });
  }

  private static String address(Map<String, String> account) {
    return account.getOrDefault("token_uri", "https://oauth2.googleapis.com/token");
  }

  private static String post(SmallHttp http, String address, String form) throws IOException {
    return http.send(
        "POST",
        URI.create(address),
        Map.of("content-type", "application/x-www-form-urlencoded"),
        form);
  }

  private static String assertion(Map<String, String> account, Path file) throws IOException {
    long now = Instant.now().getEpochSecond();
    String text =
        base64("{\"alg\":\"RS256\",\"typ\":\"JWT\"}")
            + "."
            + base64(
                "{\"iss\":\"%s\",\"scope\":\"%s\",\"aud\":\"%s\",\"iat\":%d,\"exp\":%d}"
                    .formatted(
                        account.get("client_email"), SCOPE, address(account), now, now + 3600));
    try {
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initSign(io.nereid.tls.PemFile.of(file, account.get("private_key")).privateKey());
      signature.update(text.getBytes(StandardCharsets.US_ASCII));
      return text + "." + base64(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IOException(file + ": expected an RSA key in private_key", e);
    }
  }

  private static String base64(String text) {
    return base64(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
