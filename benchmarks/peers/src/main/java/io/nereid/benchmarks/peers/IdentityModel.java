package io.nereid.benchmarks.peers;

/** The names in the configuration of the identity model. */
final class IdentityModel {

  static final String NAME = "identity";
  static final String INPUT = "INPUT0";
  static final String OUTPUT = "OUTPUT0";

  private IdentityModel() {}
}
