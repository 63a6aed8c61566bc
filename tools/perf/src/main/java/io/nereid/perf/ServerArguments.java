package io.nereid.perf;

import io.nereid.perf.Target.Protocol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The options for the address and protocol of the server, of all commands that talk to a running
 * server.
 */
public final class ServerArguments {

  @Option(
      names = {"-u", "--url"},
      paramLabel = "HOST:PORT",
      description =
          "The server; localhost with the protocol's usual port by default. http, https, grpc or"
              + " grpcs may stand in front.")
  private String url;

  @Option(
      names = {"-i", "--protocol"},
      paramLabel = "http|grpc",
      description = "http by default.")
  private Protocol protocol;

  @Option(
      names = {"--tls", "--ssl-grpc-use-ssl"},
      description = "Encrypt connections, as https and grpcs do.")
  private boolean tls;

  @Option(
      names = {
        "--tls-ca",
        "--ssl-https-ca-certificates-file",
        "--ssl-grpc-root-certifications-file"
      },
      paramLabel = "FILE",
      description = "Certificates (PEM) to trust; by default what the JVM trusts.")
  private Path trusted;

  @Option(
      names = {
        "--tls-cert",
        "--ssl-https-client-certificate-file",
        "--ssl-grpc-certificate-chain-file"
      },
      paramLabel = "FILE",
      description = "A certificate chain (PEM) to show to the server.")
  private Path certificate;

  @Option(
      names = {"--tls-key", "--ssl-https-private-key-file", "--ssl-grpc-private-key-file"},
      paramLabel = "FILE",
      description = "Its private key (PEM, PKCS #8, not encrypted).")
  private Path key;

  @Option(
      names = {"-H", "--header"},
      paramLabel = "NAME:VALUE",
      description = "A field sent with every request, over gRPC as metadata; repeatable.")
  private List<String> headers = List.of();

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A file with a token, which is sent as 'authorization: Bearer TOKEN'.")
  private Path tokenFile;

  /** Called by picocli, which sets the fields. */
  public ServerArguments() {}

  /** True if the command line names a server, by address or protocol. */
  public boolean isGiven() {
    return url != null || protocol != null;
  }

  /**
   * Returns a connection to the server, over which nothing was sent yet. Wrong options are an
   * {@link IllegalArgumentException}.
   */
  public ServerConnection connect() throws IOException {
    return new ServerConnection(target("", ""));
  }

  /**
   * Makes the target of a model of the server; wrong options are an {@link
   * IllegalArgumentException}.
   */
  Target target(String model, String version) throws IOException {
    TlsFiles files =
        new TlsFiles(
            Optional.ofNullable(trusted),
            Optional.ofNullable(certificate),
            Optional.ofNullable(key));
    boolean encrypted = tls || trusted != null || certificate != null;
    return Target.of(url, protocol, encrypted, files, fields(), model, version);
  }

  private Map<String, String> fields() throws IOException {
    Map<String, String> fields = new LinkedHashMap<>();
    for (String header : headers) {
      int colon = header.indexOf(':');
      if (colon < 1) {
        throw new IllegalArgumentException("expected --header NAME:VALUE, got '" + header + "'");
      }
      put(fields, header.substring(0, colon), header.substring(colon + 1).strip());
    }
    if (tokenFile != null) {
      put(fields, "authorization", "Bearer " + Files.readString(tokenFile).strip());
    }
    return fields;
  }

  private static void put(Map<String, String> fields, String name, String value) {
    String lower = name.strip().toLowerCase(Locale.ROOT);
    if (!lower.matches("[0-9a-z_.-]+") || !value.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      throw new IllegalArgumentException( // the value is not shown: it may be a secret
          "expected a header of printable ASCII without line breaks, got another as '"
              + lower
              + "'");
    }
    if (fields.put(lower, value) != null) {
      throw new IllegalArgumentException("expected each header once, got '" + lower + "' twice");
    }
  }
}
