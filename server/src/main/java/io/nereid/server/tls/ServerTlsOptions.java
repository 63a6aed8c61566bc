package io.nereid.server.tls;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Names the PEM files that the connections of a frontend are encrypted with.
 *
 * @param certificate the server's certificate, and behind it those that lead to a root
 * @param key the private key of the first of them, not encrypted
 * @param clientCa certificates that those of clients must lead to; empty: clients need none
 * @param clientCertificate whether clients need one, where {@code clientCa} is given
 */
public record ServerTlsOptions(
    Path certificate, Path key, Optional<Path> clientCa, ClientCertificate clientCertificate) {

  /** The need of a client for a certificate. */
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

  /** Returns options for clients whose certificates lead to an authority in {@code clientCa}. */
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
