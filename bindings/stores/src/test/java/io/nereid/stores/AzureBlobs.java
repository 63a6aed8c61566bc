package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Base64;

/**
 * Puts blobs into Azure's emulator, with the key that all of those have.
 *
 * @param server its address
 */
record AzureBlobs(URI server) {

  static final String ACCOUNT = "devstoreaccount1";
  static final String KEY =
      "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

  /** Makes a container, where the name has no slash, or a blob. */
  void put(String name, byte[] content) throws IOException, InterruptedException {
    boolean container = name.indexOf('/') < 0;
    String path = "/" + ACCOUNT + "/" + name;
    String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC));
    String length = content.length == 0 ? "" : "" + content.length;
    String kind = container ? "" : "x-ms-blob-type:BlockBlob\n";
    String text =
        "PUT\n\n\n"
            + length
            + "\n\n\n\n\n\n\n\n\n"
            + kind
            + ("x-ms-date:" + date + "\nx-ms-version:2021-08-06\n")
            + ("/" + ACCOUNT + path)
            + (container ? "\nrestype:container" : "");
    byte[] signature =
        S3Dialect.hmac(Base64.getDecoder().decode(KEY), text.getBytes(StandardCharsets.UTF_8));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(path + (container ? "?restype=container" : "")))
            .PUT(HttpRequest.BodyPublishers.ofByteArray(content))
            .header("x-ms-date", date)
            .header("x-ms-version", "2021-08-06")
            .header(
                "Authorization",
                "SharedKey " + ACCOUNT + ":" + Base64.getEncoder().encodeToString(signature));
    if (!container) {
      request.header("x-ms-blob-type", "BlockBlob");
    }
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<String> answer =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      assertEquals(201, answer.statusCode(), answer.body());
    }
  }
}
