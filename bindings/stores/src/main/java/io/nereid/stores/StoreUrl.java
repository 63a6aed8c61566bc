package io.nereid.stores;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.net.URI;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URL of a repository, in one of Triton's forms.
 *
 * @param scheme {@code s3}, {@code gs} or {@code as}
 * @param endpoint the server, where the URL names one
 * @param account of Azure; empty elsewhere
 * @param bucket the bucket, or Azure's container
 * @param prefix what the names of the repository's objects begin with: empty, or with a slash at
 *     its end
 */
record StoreUrl(
    String scheme, Optional<URI> endpoint, String account, String bucket, String prefix) {

  private static final Pattern FORM =
      Pattern.compile("(s3|gs|as)://(?:(https?)://)?([^/?#]+)((?:/[^?#]*)?)");

  private static final Pattern HOST = Pattern.compile("[^/:]+:\\d+");

  static StoreUrl parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw invalid(text);
    }
    String scheme = form.group(1);
    String first = form.group(3);
    String rest = form.group(4);
    Optional<URI> endpoint = Optional.empty();
    // Triton speaks plain HTTP to a host that is named without a protocol.
    if (form.group(2) != null || HOST.matcher(first).matches()) {
      String protocol = form.group(2) == null ? "http" : form.group(2);
      endpoint = Optional.of(URI.create(protocol + "://" + first));
    } else {
      rest = "/" + first + rest;
    }
    String[] names = rest.replaceAll("^/+|/+$", "").split("/+", scheme.equals("as") ? 3 : 2);
    int bucket = scheme.equals("as") ? 1 : 0;
    if (names.length <= bucket || names[0].isEmpty()) {
      throw invalid(text);
    }
    String prefix = names.length > bucket + 1 ? names[bucket + 1] + "/" : "";
    String account = bucket == 1 ? names[0].replaceFirst("\\.blob\\.core\\..*", "") : "";
    return new StoreUrl(scheme, endpoint, account, names[bucket], prefix);
  }

  private static NereidException invalid(String text) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "expected a repository s3://BUCKET/PREFIX, s3://HOST:PORT/BUCKET/PREFIX, gs://BUCKET/PREFIX"
            + " or as://ACCOUNT/CONTAINER/PREFIX, got '"
            + text
            + "'");
  }

  /** The text by which credentials and users know it. */
  @Override
  public String toString() {
    String host = endpoint.map(uri -> (uri + "/").replaceFirst("^http://(.*:)", "$1")).orElse("");
    String owner = account.isEmpty() ? "" : account + "/";
    String text = scheme + "://" + host + owner + bucket + "/" + prefix;
    return text.substring(0, text.length() - 1);
  }
}
