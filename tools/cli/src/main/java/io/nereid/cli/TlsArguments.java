package io.nereid.cli;

import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for encrypting the connections of HTTP and gRPC. */
final class TlsArguments extends Arguments {

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "The server's certificate chain (PEM): turns TLS on. Renewed ones are noticed.")
  private Path certificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "Its private key (PEM, not encrypted).")
  private Path key;

  @Option(
      names = "--tls-client-ca",
      paramLabel = "FILE",
      description = "Certificates (PEM) that those of clients must lead to.")
  private Path clientCa;

  @Option(
      names = "--tls-client-auth",
      paramLabel = "required|optional",
      description = "Whether a client needs a certificate; required by default.")
  private ClientCertificate clientAuth;

  /** The certificates; empty: connections are not encrypted. */
  Optional<ServerTlsOptions> options() {
    check((certificate == null) == (key == null), "--tls-cert and --tls-key together");
    check(clientCa == null || certificate != null, "--tls-client-ca with --tls-cert");
    check(clientAuth == null || clientCa != null, "--tls-client-auth with --tls-client-ca");
    if (certificate == null) {
      return Optional.empty();
    }
    return Optional.of(
        new ServerTlsOptions(
            certificate,
            key,
            Optional.ofNullable(clientCa),
            clientAuth == null ? ClientCertificate.REQUIRED : clientAuth));
  }

  private void check(boolean holds, String expected) {
    if (!holds) {
      throw wrong(expected, "one without the other");
    }
  }
}
