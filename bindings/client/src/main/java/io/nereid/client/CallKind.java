package io.nereid.client;

/** What making a call twice could do. */
enum CallKind {
  /** Nothing: it only asks. */
  READ,
  /** Work done twice. */
  INFER,
  /** The state of a sequence would be wrong. */
  SEQUENCE,
  /** Something of the server would be changed twice. */
  CHANGE
}
