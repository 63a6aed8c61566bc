package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Chooses how a store is spoken to, with the credentials that Triton would take. */
final class Dialects {

  /** Triton's variable for a file with credentials for single buckets. */
  private static final String FILE = "TRITON_CLOUD_CREDENTIAL_PATH";

  private Dialects() {}

  static Dialect of(StoreUrl url, Map<String, String> environment, SmallHttp http)
      throws IOException {
    Map<String, String> given = given(url, environment.getOrDefault(FILE, ""));
    return switch (url.scheme()) {
      case "s3" -> s3(url, environment, given, http);
      case "gs" -> google(url, environment, given, http);
      default -> azure(url, environment, given, http);
    };
  }

  private static Dialect s3(
      StoreUrl url, Map<String, String> environment, Map<String, String> given, SmallHttp http)
      throws IOException {
    String other =
        environment.getOrDefault(
            "AWS_ENDPOINT_URL_S3", environment.getOrDefault("AWS_ENDPOINT_URL", ""));
    // The keys of a machine are of use at Amazon's store, and where the variables name another
    // address.
    boolean amazon = url.endpoint().isEmpty();
    var credentials = new AwsCredentials.Chain(environment, given, amazon, http);
    String region = credentials.region();
    String country = region.startsWith("cn-") ? ".cn" : "";
    String usual = "https://s3." + region + ".amazonaws.com" + country;
    URI endpoint =
        url.endpoint().orElseGet(() -> URI.create(other.isEmpty() ? usual : trim(other)));
    return new S3Dialect(url, endpoint, region, credentials);
  }

  private static Dialect google(
      StoreUrl url, Map<String, String> environment, Map<String, String> given, SmallHttp http)
      throws IOException {
    String emulator = environment.getOrDefault("STORAGE_EMULATOR_HOST", "");
    String host = emulator.isEmpty() || emulator.contains("://") ? emulator : "http://" + emulator;
    URI endpoint =
        url.endpoint()
            .orElseGet(
                () -> URI.create(host.isEmpty() ? "https://storage.googleapis.com" : trim(host)));
    String file =
        given.getOrDefault("", environment.getOrDefault("GOOGLE_APPLICATION_CREDENTIALS", ""));
    String metadata = environment.getOrDefault("GCE_METADATA_HOST", "");
    boolean google = endpoint.getHost().endsWith(".googleapis.com") || !metadata.isEmpty();
    TokenSource tokens =
        file.isEmpty() && !google ? null : GoogleDialect.tokens(file, metadata, http);
    return new GoogleDialect(new S3Dialect(url, endpoint, "", null), tokens);
  }

  private static Dialect azure(
      StoreUrl url, Map<String, String> environment, Map<String, String> given, SmallHttp http) {
    String account = given.getOrDefault("account_str", "");
    if (account.isEmpty()) {
      account = environment.getOrDefault("AZURE_STORAGE_ACCOUNT", url.account());
    }
    // The key of another account would be refused.
    String key = given.getOrDefault("account_key", "");
    if (key.isEmpty() && account.equals(url.account())) {
      key = environment.getOrDefault("AZURE_STORAGE_KEY", "");
    }
    String sas = environment.getOrDefault("AZURE_STORAGE_SAS_TOKEN", "");
    String usual = "https://" + url.account() + ".blob.core.windows.net";
    String endpoint = url.endpoint().map(uri -> uri + "/" + url.account()).orElse(usual);
    boolean asks = key.isEmpty() && sas.isEmpty();
    return new AzureDialect(
        url, endpoint, key, sas, asks ? AzureDialect.identity(environment, http) : null);
  }

  private static String trim(String address) {
    return address.replaceFirst("/+$", "");
  }

  /**
   * Returns what Triton's file of credentials has for a URL: the entry whose name is the longest
   * beginning of it. A text in place of an object has the empty name.
   */
  private static Map<String, String> given(StoreUrl url, String file) throws IOException {
    if (file.isEmpty()) {
      return Map.of();
    }
    Map<String, String> all = SmallJson.strings(Files.readString(Path.of(file)));
    String wanted = plain(url.toString());
    String best = null;
    for (String path : all.keySet()) {
      String[] names = path.split("\n", 3);
      boolean fits =
          names.length > 1 && names[0].equals(url.scheme()) && wanted.startsWith(plain(names[1]));
      if (fits && (best == null || names[1].length() > best.length())) {
        best = names[1];
      }
    }
    Map<String, String> given = new HashMap<>();
    String prefix = url.scheme() + "\n" + best;
    all.forEach((path, value) -> {
      if (path.equals(prefix) || path.startsWith(prefix + "\n")) {
        given.put(path.substring(Math.min(path.length(), prefix.length() + 1)), value);
      }
    });
    return given;
  }

  private static String plain(String url) {
    return url.replaceFirst("://https?://", "://");
  }
}
