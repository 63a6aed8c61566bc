package io.nereid.cli;

/** Settings that cannot be used; the message names the place. */
final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  SettingsException(String message) {
    super(message);
  }
}
