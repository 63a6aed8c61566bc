/**
 * The words that the runtime, the client and the load generator share: data types, shapes, the
 * layout of byte strings, codes of failures. Nothing here has state, and nothing needs another
 * package.
 */
package io.nereid.types;
