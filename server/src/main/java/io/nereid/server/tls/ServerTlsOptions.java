package io.nereid.server.tls;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The PEM files for encrypting a frontend's connections.
 *
 * @param certificate the server's certificate, followed by its chain
 * @param key the certificate's private key, not encrypted
 * @param clientCa the authorities that must have issued clients' certificates; empty: clients need
 *     none
 * @param clientCertificate whether clients need a certificate, if {@code clientCa} is given
 */
public record ServerTlsOptions(
    Path certificate, Path key, Optional<Path> clientCa, ClientCertificate clientCertificate) {

  /** Says whether clients need a certificate. */
  public enum ClientCertificate {
    /** A client without one is refused. */
    REQUIRED,
    /** A client may have none; one that is not trusted is refused. */
    OPTIONAL
  }

  /** Checks the values. */
  public ServerTlsOptions {
    Objects.requireNonNull(certificate);
    Objects.requireNonNull(key);
    Objects.requireNonNull(clientCa);
    Objects.requireNonNull(clientCertificate);
  }

  /** Returns options for clients that need no certificate. */
  public static ServerTlsOptions of(Path certificate, Path key) {
    return new ServerTlsOptions(certificate, key, Optional.empty(), ClientCertificate.OPTIONAL);
  }

  /** Returns options for clients with certificates from an authority in {@code clientCa}. */
  public static ServerTlsOptions of(
      Path certificate, Path key, Path clientCa, ClientCertificate clientCertificate) {
    return new ServerTlsOptions(certificate, key, Optional.of(clientCa), clientCertificate);
  }

  /** True if a client that shows no certificate is refused. */
  public boolean isMutual() {
    return clientCa.isPresent() && clientCertificate == ClientCertificate.REQUIRED;
  }

  List<Path> files() {
    List<Path> files = new ArrayList<>(List.of(certificate, key));
    clientCa.ifPresent(files::add);
    return files;
  }
}
